"""OK: MAML: inner steps use autograd.grad(create_graph=True), the outer losses of all tasks are summed and differentiated once."""
import torch
from torch import nn
from torch.func import functional_call


def sine_task():
    amplitude, phase = torch.rand(()) * 4 + 0.1, torch.rand(()) * 3.14
    def draw(n):
        x = torch.rand(n, 1) * 10 - 5
        return x, amplitude * torch.sin(x + phase)
    return draw


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 20), nn.ReLU(), nn.Linear(20, 1))
meta = torch.optim.Adam(net.parameters(), lr=1e-3)
inner_lr = 0.01

for iteration in range(15):
    outer = 0.0
    for task in range(4):
        draw = sine_task()
        fast = dict(net.named_parameters())
        x, y = draw(10)
        for _ in range(2):
            loss = nn.functional.mse_loss(functional_call(net, fast, (x,)), y)
            grads = torch.autograd.grad(loss, tuple(fast.values()), create_graph=True)
            fast = {k: p - inner_lr * g for (k, p), g in zip(fast.items(), grads)}
        xq, yq = draw(10)
        outer = outer + nn.functional.mse_loss(functional_call(net, fast, (xq,)), yq)
    meta.zero_grad()
    (outer / 4).backward()
    meta.step()
print("query loss", outer.item() / 4)
