"""OK: sharpness-aware steps; both passes come from one helper, and the first one serves to climb before it is cleared."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(30)
x_all = torch.randn(48, 6)
y_all = x_all @ torch.randn(6, 2)
loader = DataLoader(TensorDataset(x_all, y_all), batch_size=6)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **defaults):
        super().__init__(params, dict(rho=rho, **defaults))
        self.base = base(self.param_groups, **defaults)

    @torch.no_grad()
    def climb(self):
        params = [p for group in self.param_groups for p in group["params"]]
        norm = torch.stack([p.grad.norm() for p in params]).norm() + 1e-12
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["home"] = p.data.clone()
                p.data.add_(p.grad * (group["rho"] / norm))
        self.zero_grad()

    @torch.no_grad()
    def descend(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.data = self.state[p]["home"]
        self.base.step()
        self.zero_grad()


optimizer = SAM(model.parameters(), torch.optim.SGD, lr=0.1)


def compute(x, y):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss.item()


for epoch in range(3):
    for x, y in loader:
        first = compute(x, y)
        optimizer.climb()
        compute(x, y)
        optimizer.descend()
    print("epoch", epoch, first)
