"""OK: the optimizer subclass clears the gradients itself at the end of step(), so the loop needs no zero_grad()."""
import torch
from torch import nn
from torch.optim import Optimizer


class SignSGD(Optimizer):
    def __init__(self, params, lr=1e-3):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.add_(p.grad.sign(), alpha=-group["lr"])
                p.grad = None
        return loss


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(9, 18), nn.ReLU(), nn.Linear(18, 1))
opt = SignSGD(net.parameters(), lr=2e-3)
data = torch.randn(200, 9)
value = data.std(1, keepdim=True)
for epoch in range(6):
    for lo in range(0, 200, 40):
        loss = (net(data[lo:lo + 40]) - value[lo:lo + 40]).pow(2).mean()
        loss.backward()
        opt.step()
print("loss", loss.item())
