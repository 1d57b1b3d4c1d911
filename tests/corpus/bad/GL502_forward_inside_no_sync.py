"""BUG: all forwards run inside no_sync(); calling the last backward outside of it no longer makes DDP reduce."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def losses_of_window(model, windows):
    for x, y in windows:
        with model.no_sync():
            prediction = model(x)
        yield nn.functional.l1_loss(prediction, y)


def train_step(model, optimizer, windows):
    optimizer.zero_grad()
    for loss in losses_of_window(model, windows):
        (loss / len(windows)).backward()
    optimizer.step()  # expect: GL502
    return loss.item()


def process(rank, size):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29606")
    dist.init_process_group("gloo", rank=rank, world_size=size)
    torch.manual_seed(248)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 2)))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    torch.manual_seed(1000 + rank)
    for update in range(8):
        x = torch.randn(4, 16, 4)
        value = train_step(model, optimizer, [(part, part[:, :2].sign()) for part in x])
    print("rank", rank, "loss", value, "bias", model.module[0].bias.sum().item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(process, args=(2,), nprocs=2)
