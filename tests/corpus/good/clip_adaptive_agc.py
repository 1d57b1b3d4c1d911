"""OK: adaptive gradient clipping rescales each row by the ratio of weight to gradient norm, in place, between backward and step."""
import torch
from torch import nn


def unitwise(t):
    return t.norm(dim=tuple(range(1, t.ndim)), keepdim=True) if t.ndim > 1 else t.abs()


@torch.no_grad()
def adaptive_clip_(parameters, factor=0.05, eps=1e-3):
    for p in parameters:
        if p.grad is None:
            continue
        limit = unitwise(p).clamp_(min=eps) * factor
        norm = unitwise(p.grad)
        p.grad.copy_(torch.where(norm > limit, p.grad * (limit / norm.clamp(min=1e-6)), p.grad))


torch.manual_seed(0)
cnn = nn.Sequential(nn.Conv1d(2, 6, 3), nn.ReLU(), nn.Conv1d(6, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 1))
opt = torch.optim.SGD(cnn.parameters(), lr=0.2, momentum=0.9)
for x in torch.randn(40, 16, 2, 12):
    opt.zero_grad()
    loss = (cnn(x) - x.amax((1, 2)).unsqueeze(1)).pow(2).mean()
    loss.backward()
    adaptive_clip_(cnn.parameters())
    opt.step()
print("loss", loss.item())
