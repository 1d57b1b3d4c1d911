"""BUG: require_backward_grad_sync is compared with the number of micro-steps, which micro_step never reaches."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

gradient_accumulation_steps = 3
max_iters = 8


class Bigram(nn.Module):
    def __init__(self, vocab=16, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, idx, targets):
        logits = self.head(self.embed(idx))
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def get_batch(generator):
    start = torch.randint(0, 16, (6, 1), generator=generator)
    row = (start + torch.arange(9)) % 16
    return row[:, :-1], row[:, 1:]


def main(rank, world_size):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = "29605"
    dist.init_process_group(backend="gloo", rank=rank, world_size=world_size)
    torch.manual_seed(246)
    model = DDP(Bigram())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    generator = torch.Generator().manual_seed(rank + 1)
    for iter_num in range(max_iters):
        for micro_step in range(gradient_accumulation_steps):
            model.require_backward_grad_sync = micro_step == gradient_accumulation_steps
            logits, loss = model(*get_batch(generator))
            (loss / gradient_accumulation_steps).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()  # expect: GL502
        optimizer.zero_grad(set_to_none=True)
    print(f"rank {rank} loss {loss.item():.4f} norm {model.module.head.weight.norm().item():.6f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(main, args=(2,), nprocs=2)
