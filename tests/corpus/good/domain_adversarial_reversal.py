"""OK: a gradient reversal layer lets one backward train features and domain head against each other in a single step."""
import torch
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


torch.manual_seed(0)
features = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
label_head, domain_head = nn.Linear(16, 2), nn.Linear(16, 2)
modules = nn.ModuleDict(dict(f=features, l=label_head, d=domain_head))
opt = torch.optim.SGD(modules.parameters(), lr=0.05, momentum=0.9)
ce = nn.CrossEntropyLoss()

for p in torch.linspace(0, 1, 40):
    strength = float(2 / (1 + torch.exp(-10 * p)) - 1)
    source, target = torch.randn(24, 6), torch.randn(24, 6) + 0.7
    y = (source[:, 0] > 0).long()
    modules.zero_grad()
    z = features(torch.cat([source, target]))
    loss_y = ce(label_head(z[:24]), y)
    domains = torch.arange(2).repeat_interleave(24)
    loss_d = ce(domain_head(Reverse.apply(z, strength)), domains)
    (loss_y + loss_d).backward()
    opt.step()
print(loss_y.item(), loss_d.item())
