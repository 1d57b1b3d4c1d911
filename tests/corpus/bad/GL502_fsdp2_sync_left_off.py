"""BUG: set_requires_gradient_sync(False) is never followed by True, so FSDP2 reduces nothing before the step."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

MICRO = 3


def build(mesh):
    torch.manual_seed(250)
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))
    for layer in (model[0], model[2]):
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def run(rank, world):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = "29607"
    dist.init_process_group("gloo", rank=rank, world_size=world)
    model = build(init_device_mesh("cpu", (world,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(rank)
    model.set_requires_gradient_sync(False)
    for update in range(6):
        for micro in range(MICRO):
            x = torch.randn(8, 8, generator=generator)
            loss = nn.functional.mse_loss(model(x), x[:, :4]) / MICRO
            loss.backward()
        optimizer.step()  # expect: GL502
        optimizer.zero_grad()
    print("rank", rank, "loss", loss.item() * MICRO)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=(2,), nprocs=2)
