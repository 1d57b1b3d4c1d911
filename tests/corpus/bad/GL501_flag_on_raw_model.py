"""BUG: the flag that defers the reduction is set on the unwrapped model, so DDP reduces at every micro-step."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

gradient_accumulation_steps = 4
block_size, vocab_size, n_embd = 8, 20, 16


class NanoLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.wpe = nn.Embedding(block_size, n_embd)
        self.mix = nn.Conv1d(n_embd, n_embd, 3)
        self.lm_head = nn.Linear(n_embd, vocab_size)

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        x = x + torch.tanh(self.mix(F.pad(x.transpose(1, 2), (2, 0)))).transpose(1, 2)
        logits = self.lm_head(x)
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def worker(rank, world_size):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", "29810"
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    torch.manual_seed(1337)
    model = DDP(NanoLM())
    raw_model = model.module
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))
    g = torch.Generator().manual_seed(1337 + rank)

    def get_batch():
        data = torch.randint(0, 5, (6, block_size + 1), generator=g).cumsum(1) % vocab_size
        return data[:, :-1], data[:, 1:]

    for iter_num in range(8):
        for micro_step in range(gradient_accumulation_steps):
            raw_model.require_backward_grad_sync = micro_step == gradient_accumulation_steps - 1
            X, Y = get_batch()
            _, loss = model(X, Y)
            loss = loss / gradient_accumulation_steps
            loss.backward()  # expect: GL501
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if rank == 0 and iter_num % 4 == 3:
            print(f"iter {iter_num}: loss {loss.item() * gradient_accumulation_steps:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
