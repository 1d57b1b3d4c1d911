"""OK: GradNorm: the weighted loss trains the net, the balance loss sets the gradient of the task weights by assignment."""
import torch
from torch import nn

torch.manual_seed(0)
shared = nn.Linear(5, 10)
heads = nn.ModuleList([nn.Linear(10, 1) for _ in range(2)])
weights = nn.Parameter(torch.ones(2))
opt_net = torch.optim.SGD([*shared.parameters(), *heads.parameters()], lr=0.02)
opt_w = torch.optim.SGD([weights], lr=0.02)
initial = None

for step in range(50):
    x = torch.randn(64, 5)
    targets = [x.sum(1, keepdim=True), 10 * x[:, :1].cos()]
    z = torch.relu(shared(x))
    losses = torch.stack([nn.functional.mse_loss(h(z), t) for h, t in zip(heads, targets)])
    if initial is None:
        initial = losses.detach()
    opt_net.zero_grad()
    (weights * losses).sum().backward(retain_graph=True)
    norms = torch.stack([
        torch.autograd.grad(weights[i] * losses[i], shared.weight, retain_graph=True, create_graph=True)[0].norm()
        for i in range(2)
    ])
    ratio = losses.detach() / initial
    target = (norms.mean() * (ratio / ratio.mean()) ** 0.5).detach()
    balance = (norms - target).abs().sum()
    weights.grad = torch.autograd.grad(balance, weights)[0]
    opt_net.step()
    opt_w.step()
    with torch.no_grad():
        weights.mul_(2 / weights.sum())
print("weights", weights.tolist(), "losses", losses.tolist())
