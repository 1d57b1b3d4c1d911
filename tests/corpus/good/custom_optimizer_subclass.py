"""OK: a user-defined Optimizer subclass with its own state, used in the ordinary zero, backward, step order."""
import math

import torch
from torch.optim.optimizer import Optimizer


class Lion(Optimizer):
    def __init__(self, params, lr=1e-3, beta1=0.9, beta2=0.99, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, beta1=beta1, beta2=beta2, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in (q for q in group["params"] if q.grad is not None):
                memory = self.state[p].setdefault("memory", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                direction = memory * group["beta1"] + p.grad * (1 - group["beta1"])
                p.add_(direction.sign_(), alpha=-group["lr"])
                memory.lerp_(p.grad, 1 - group["beta2"])


torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
angle = torch.rand(300) * 4 * math.pi
arm = torch.arange(300) % 2
points = torch.stack([angle * torch.cos(angle + math.pi * arm), angle * torch.sin(angle + math.pi * arm)], 1) / 8
optimizer = Lion(model.parameters(), lr=2e-3, weight_decay=1e-2)

epoch = 0
while epoch < 12:
    for batch in torch.randperm(300).split(60):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(points[batch]), arm[batch])
        loss.backward()
        optimizer.step()
    epoch += 1
print("loss", loss.item())
