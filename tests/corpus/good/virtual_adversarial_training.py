"""OK: the VAT direction is found with backward on a probe tensor and the model cleared after it, before the real loss."""
import torch
import torch.nn.functional as F
from torch import nn


def unit(d):
    return d / (d.flatten(1).norm(dim=1, keepdim=True) + 1e-8)


def vat_loss(model, x, xi=1e-1, eps=0.5, iterations=1):
    with torch.no_grad():
        p = F.softmax(model(x), dim=1)
    d = unit(torch.rand_like(x) - 0.5)
    for _ in range(iterations):
        d.requires_grad_()
        divergence = F.kl_div(F.log_softmax(model(x + xi * d), dim=1), p, reduction="batchmean")
        divergence.backward()
        d = unit(d.grad)
        model.zero_grad()
    return F.kl_div(F.log_softmax(model(x + eps * d), dim=1), p, reduction="batchmean")


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
xl = torch.tensor([[1.0, 0.0], [-1.0, 0.0]]).repeat(8, 1)
yl = torch.tensor([0, 1]).repeat(8)
for step in range(40):
    xu = torch.randn(64, 2)
    optimizer.zero_grad()
    lds = vat_loss(model, xu)
    loss = F.cross_entropy(model(xl), yl) + lds
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "lds", lds.item())
