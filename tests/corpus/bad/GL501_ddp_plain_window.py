"""BUG: DDP all-reduces at each of the four micro-batches because the loop never uses no_sync()."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def setup(rank, world_size):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "29601"
    dist.init_process_group("gloo", rank=rank, world_size=world_size)


def worker(rank, world_size, accumulation=4, epochs=2):
    setup(rank, world_size)
    torch.manual_seed(240)
    x = torch.randn(256, 8)
    dataset = TensorDataset(x, x.sum(1, keepdim=True))
    sampler = DistributedSampler(dataset, world_size, rank, shuffle=True)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for i, (inputs, targets) in enumerate(loader):
            loss = nn.functional.mse_loss(model(inputs), targets) / accumulation
            loss.backward()  # expect: GL501
            if (i + 1) % accumulation == 0:
                optimizer.step()
                optimizer.zero_grad()
    print("rank", rank, "loss", loss.item() * accumulation)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
