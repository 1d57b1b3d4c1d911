"""OK: gradients of each loss are measured with autograd.grad on a kept graph before the one real backward of their sum."""
import torch
from torch import nn

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(8, 20), nn.Tanh())
heads = nn.ModuleDict({"age": nn.Linear(20, 1), "size": nn.Linear(20, 1), "price": nn.Linear(20, 1)})
optim = torch.optim.AdamW([{"params": body.parameters()}, {"params": heads.parameters()}], lr=1e-2)

norms = []
for step in range(40):
    x = torch.randn(24, 8)
    truth = {"age": x[:, :1], "size": x[:, 1:2].abs(), "price": x[:, 2:3] ** 2}
    z = body(x)
    losses = {k: (head(z) - truth[k]).pow(2).mean() for k, head in heads.items()}
    shared = body[0].weight
    norms.append({k: torch.autograd.grad(v, shared, retain_graph=True)[0].norm().item() for k, v in losses.items()})
    optim.zero_grad()
    torch.stack(list(losses.values())).sum().backward()
    optim.step()
print(norms[0], norms[-1])
