"""BUG: backward() was lost when the loss moved into a helper; the optimizer steps without any gradient."""
import torch
from torch import nn


class Factorization(nn.Module):
    def __init__(self, rows, cols, rank):
        super().__init__()
        self.left = nn.Parameter(0.1 * torch.randn(rows, rank))
        self.right = nn.Parameter(0.1 * torch.randn(cols, rank))

    def forward(self, r, c):
        return (self.left[r] * self.right[c]).sum(-1)


def objective(model, r, c, rating, decay=1e-3):
    fit = (model(r, c) - rating).pow(2).mean()
    return fit + decay * (model.left.pow(2).mean() + model.right.pow(2).mean())


torch.manual_seed(70)
ratings = torch.rand(25, 18)
model = Factorization(25, 18, 4)
opt = torch.optim.Adagrad(model.parameters(), lr=0.1)

updates = 0
while updates < 15:
    r, c = torch.randint(25, (64,)), torch.randint(18, (64,))
    opt.zero_grad()
    loss = objective(model, r, c, ratings[r, c])
    opt.step()  # expect: GL106
    updates += 1

print("loss", loss.item())
