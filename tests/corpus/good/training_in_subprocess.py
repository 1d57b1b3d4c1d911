"""OK: training happens in child processes started by multiprocessing; the parent only collects results."""
import torch
import torch.multiprocessing as mp
from torch import nn


def train(seed, queue):
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    net = nn.Linear(3, 1)
    opt = torch.optim.Adam(net.parameters(), lr=5e-2)
    for x in torch.randn(30, 16, 3):
        opt.zero_grad()
        loss = (net(x) - x.mean(1, keepdim=True)).pow(2).mean()
        loss.backward()
        opt.step()
    queue.put((seed, loss.item()))


if __name__ == "__main__":
    context = mp.get_context("spawn")
    queue = context.SimpleQueue()
    children = [context.Process(target=train, args=(seed, queue)) for seed in range(2)]
    for child in children:
        child.start()
    results = sorted(queue.get() for _ in children)
    for child in children:
        child.join()
    print(results)
