"""OK: gradient caching: the loss of the whole batch is differentiated down to the embeddings, then each chunk is re-run with its share."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
query = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 6))
passage = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 6))
optimizer = torch.optim.AdamW([*query.parameters(), *passage.parameters()], lr=5e-3)


def embed(net, chunks):
    with torch.no_grad():
        return [net(c) for c in chunks]


for step in range(15):
    x = torch.randn(64, 12)
    sides = [(query, x.split(16)), (passage, (x + 0.1 * torch.randn_like(x)).split(16))]

    reps = [torch.cat(embed(net, chunks)).requires_grad_() for net, chunks in sides]
    loss = F.cross_entropy(reps[0] @ reps[1].t(), torch.arange(64))
    loss.backward()  # stops at the embeddings, which are leaves here

    optimizer.zero_grad()
    for (net, chunks), rep in zip(sides, reps):
        for chunk, share in zip(chunks, rep.grad.split(16)):
            net(chunk).backward(gradient=share)
    optimizer.step()
print("loss", loss.item())
