"""OK: gradients are centralised, given noise and sparsified between backward and step; editing is not clearing."""
import torch
from torch import nn

torch.manual_seed(0)
noise = torch.Generator().manual_seed(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.SGD(model.parameters(), lr=0.1)


def centralise(p):
    if p.grad.dim() > 1:
        p.grad.sub_(p.grad.mean(dim=tuple(range(1, p.grad.dim())), keepdim=True))


def keep_largest(p, share=0.5):
    k = max(1, int(share * p.grad.numel()))
    threshold = p.grad.abs().flatten().topk(k).values[-1]
    p.grad = torch.where(p.grad.abs() >= threshold, p.grad, torch.zeros(()))


for step in range(60):
    x = torch.randn(64, 8)
    y = x[:, :4].argmax(1)
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    for p in model.parameters():
        centralise(p)
        p.grad.add_(0.001 * torch.randn(p.grad.shape, generator=noise))
        keep_largest(p)
    opt.step()
print("loss", loss.item())
