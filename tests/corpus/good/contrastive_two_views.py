"""OK: SimCLR: two views go through one encoder, the loss sees both, and there is one backward and one step per batch."""
import torch
import torch.nn.functional as F
from torch import nn


def nt_xent(a, b, temperature=0.5):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.t() / temperature
    sim.fill_diagonal_(float("-inf"))
    n = a.size(0)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)


torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU())
projector = nn.Linear(32, 8)
params = [{"params": encoder.parameters(), "lr": 1e-3}, {"params": projector.parameters(), "lr": 1e-2}]
opt = torch.optim.AdamW(params)
data = torch.randn(256, 16)
for epoch in range(3):
    for x in data[torch.randperm(256)].split(64):
        view1, view2 = (x + 0.1 * torch.randn_like(x) for _ in range(2))
        loss = nt_xent(projector(encoder(view1)), projector(encoder(view2)))
        opt.zero_grad()
        loss.backward()
        opt.step()
print("loss", loss.item())
