"""OK: SAM climbs with the first gradient, clears it, differentiates again at the perturbed point and only then steps."""
import torch
from torch import nn


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base = base(self.param_groups, **kwargs)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        grads = [p.grad.norm() for g in self.param_groups for p in g["params"] if p.grad is not None]
        scale = self.param_groups[0]["rho"] / (torch.stack(grads).norm() + 1e-12)
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                climb = p.grad * scale
                p.add_(climb)
                self.state[p]["climb"] = climb
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.sub_(self.state[p]["climb"])
        self.base.step()
        if zero_grad:
            self.zero_grad()

    def step(self, closure=None):
        raise NotImplementedError("call first_step and second_step")


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 4))
sam = SAM(model.parameters(), torch.optim.SGD, rho=0.05, lr=0.1, momentum=0.9)
x = torch.randn(160, 10)
y = x[:, :4].argmax(1)
for epoch in range(5):
    for rows in torch.randperm(160).split(32):
        first = nn.functional.cross_entropy(model(x[rows]), y[rows])
        first.backward()
        sam.first_step(zero_grad=True)
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        sam.second_step(zero_grad=True)
print("loss", first.item())
