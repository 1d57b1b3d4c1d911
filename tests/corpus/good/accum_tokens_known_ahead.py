"""OK: the window's batches are drawn first, so each micro-batch's summed loss is divided by the token count of the whole window."""
import itertools

import torch
from torch import nn
import torch.nn.functional as F


def sequences(count, generator):
    for _ in range(count):
        length = int(torch.randint(2, 12, (), generator=generator))
        yield torch.randint(0, 15, (3, length + 1), generator=generator)


def batched(iterable, n):
    it = iter(iterable)
    while window := list(itertools.islice(it, n)):
        yield window


torch.manual_seed(0)
generator = torch.Generator().manual_seed(2)
lm = nn.ModuleDict({"embed": nn.Embedding(15, 10), "rnn": nn.GRU(10, 10, batch_first=True), "head": nn.Linear(10, 15)})
opt = torch.optim.AdamW(lm.parameters(), lr=5e-3)
for epoch in range(2):
    for window in batched(sequences(18, generator), 4):  # the last window holds two
        num_items = sum(ids[:, 1:].numel() for ids in window)
        opt.zero_grad()
        total = 0.0
        for ids in window:
            hidden, _ = lm["rnn"](lm["embed"](ids[:, :-1]))
            loss = F.cross_entropy(lm["head"](hidden).flatten(0, 1), ids[:, 1:].flatten(), reduction="sum") / num_items
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(lm.parameters(), 1.0)
        opt.step()
print("loss", total)
