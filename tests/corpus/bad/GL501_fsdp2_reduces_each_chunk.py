"""BUG: FSDP2 reduce-scatters after each chunk because set_requires_gradient_sync() is never used to hold it back."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class ShardedTrainer:
    def __init__(self, world, dim=8, depth=2, chunks=4):
        torch.manual_seed(252)
        self.chunks = chunks
        self.model = nn.Sequential(*(Block(dim) for _ in range(depth)))
        mesh = init_device_mesh("cpu", (world,))
        for block in self.model:
            fully_shard(block, mesh=mesh)
        fully_shard(self.model, mesh=mesh)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def train_batch(self, batch):
        self.optimizer.zero_grad()
        for chunk in batch.chunk(self.chunks):
            loss = nn.functional.mse_loss(self.model(chunk), chunk.flip(1))
            (loss / self.chunks).backward()  # expect: GL501
        self.optimizer.step()
        return loss.item()


def worker(rank, world):
    os.environ.update({"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29608"})
    dist.init_process_group("gloo", rank=rank, world_size=world)
    trainer = ShardedTrainer(world)
    generator = torch.Generator().manual_seed(rank)
    for _ in range(6):
        value = trainer.train_batch(torch.randn(32, 8, generator=generator))
    print("rank", rank, "loss", value)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
