"""OK: two independent models train at the same time in two threads; the events of one have nothing to do with the other."""
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


def train(model, seed, accumulate):
    generator = torch.Generator().manual_seed(seed)
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for i in range(40):
        x = torch.randn(16, 4, generator=generator)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        (loss / accumulate).backward()
        if (i + 1) % accumulate == 0:
            opt.step()
            opt.zero_grad()
    return loss.item()


torch.manual_seed(0)
models = [nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)) for _ in range(2)]
with ThreadPoolExecutor(2) as pool:
    futures = [pool.submit(train, models[0], 0, 1), pool.submit(train, models[1], 1, 4)]
    print([f.result() for f in futures])
