"""BUG: the primal backward already left its gradient in the multiplier, so the dual step adds it to its own and cancels it."""
import torch
from torch import nn


class Constrained:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
        self.multiplier = nn.Parameter(torch.tensor(0.5))
        self.primal = torch.optim.Adam(self.net.parameters(), lr=5e-3)
        self.dual = torch.optim.SGD([self.multiplier], lr=0.05)

    def quantities(self, x, y):
        prediction = self.net(x)
        return nn.functional.mse_loss(prediction, y), prediction.abs().mean() - 0.2

    def step(self, x, y):
        objective, violation = self.quantities(x, y)

        self.primal.zero_grad()
        self.dual.zero_grad()  # expect: GL401
        (objective + self.multiplier * violation).backward()
        self.primal.step()

        dual_loss = -self.multiplier * violation.detach()
        dual_loss.backward()
        self.dual.step()  # expect: GL401
        with torch.no_grad():
            self.multiplier.clamp_(min=0.0)
        return objective.item(), violation.item()


torch.manual_seed(204)
x = torch.randn(160, 5)
y = x[:, :1] + 0.5 * x[:, 1:2]
problem = Constrained()
for epoch in range(3):
    for pick in torch.randperm(160).split(32):
        objective, violation = problem.step(x[pick], y[pick])
    print(epoch, objective, violation, problem.multiplier.item())
