"""OK: micro-batches are added until 200 tokens are in; summed losses and one division by the true token count before each step."""
import torch
from torch import nn

torch.manual_seed(0)
PAD, VOCAB = 0, 20
gen = torch.Generator().manual_seed(1)


def batch():
    lengths = torch.randint(3, 15, (4,), generator=gen)
    ids = torch.randint(1, VOCAB, (4, int(lengths.max())), generator=gen)
    ids[torch.arange(ids.size(1))[None] >= lengths[:, None]] = PAD
    return ids


model = nn.Sequential(nn.Embedding(VOCAB, 12, padding_idx=PAD), nn.Linear(12, VOCAB))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
target_tokens, updates = 200, 0
while updates < 12:
    optimizer.zero_grad()
    tokens, nll = 0, 0.0
    while tokens < target_tokens:
        ids = batch()
        logits = model(ids[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD, reduction="sum")
        loss.backward()
        tokens += int((ids[:, 1:] != PAD).sum())
        nll += loss.item()
    for p in model.parameters():
        p.grad.div_(tokens)
    optimizer.step()
    updates += 1
print("nll per token", nll / tokens)
