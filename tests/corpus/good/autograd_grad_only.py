"""OK: gradients come from torch.autograd.grad, torch.func and a Jacobian; no .grad is ever filled and weights are updated out of place."""
import torch
from torch.func import grad, jacrev

torch.manual_seed(0)
x = torch.randn(64, 3)
y = x @ torch.tensor([1.0, 2.0, -1.0])
theta = {"w": torch.zeros(3), "b": torch.zeros(())}


def loss(t):
    return (x @ t["w"] + t["b"] - y).pow(2).mean()


for _ in range(40):
    g = grad(loss)(theta)
    theta = {k: theta[k] - 0.1 * g[k] for k in theta}

v = theta["w"].clone().requires_grad_()
for _ in range(5):
    value = ((x @ v) - y).abs().mean()
    (dv,) = torch.autograd.grad(value, v)
    v = (v - 0.01 * dv).detach().requires_grad_()
jacobian = jacrev(lambda w: torch.tanh(x[:2] @ w))(theta["w"])
print(loss(theta).item(), value.item(), tuple(jacobian.shape), v.grad)
