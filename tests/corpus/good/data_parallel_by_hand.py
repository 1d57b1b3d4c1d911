"""OK: no DDP at all: each rank differentiates its half of the batch and the gradients are averaged with all_reduce before the step."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def run(rank, size):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", "29761"
    dist.init_process_group("gloo", rank=rank, world_size=size)
    torch.manual_seed(1234)
    model = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    data = torch.randn(20, 16, 3)
    for epoch in range(2):
        for batch in data:
            mine = batch.chunk(size)[rank]
            optimizer.zero_grad()
            loss = (model(mine) - mine.norm(dim=1, keepdim=True)).pow(2).mean()
            loss.backward()
            for param in model.parameters():
                dist.all_reduce(param.grad.data, op=dist.ReduceOp.SUM)
                param.grad.data /= size
            optimizer.step()
    if rank == 0:
        print("loss", loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.set_start_method("spawn")
    processes = [mp.Process(target=run, args=(rank, 2)) for rank in range(2)]
    for p in processes:
        p.start()
    for p in processes:
        p.join()
    assert all(p.exitcode == 0 for p in processes)
