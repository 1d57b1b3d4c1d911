"""OK: the input-gradient penalty is part of one loss (create_graph=True) that is differentiated once per step."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Softplus(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)

for step in range(60):
    x = torch.randn(32, 4, requires_grad=True)
    out = net(x)
    fit = (out - x.detach().sum(1, keepdim=True)).pow(2).mean()
    slope, = torch.autograd.grad(out.sum(), x, create_graph=True)
    penalty = slope.pow(2).sum(1).mean()
    opt.zero_grad(set_to_none=True)
    (fit + 1e-2 * penalty).backward()
    opt.step()
print("fit", fit.item(), "penalty", penalty.item())
