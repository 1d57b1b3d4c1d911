"""OK: make_train_step returns a closure over model, loss and optimizer that does the whole cycle and clears at its end."""
import torch
from torch import nn


def make_train_step(model, loss_fn, optimizer):
    def perform_train_step(x, y):
        model.train()
        yhat = model(x)
        loss = loss_fn(yhat, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()
    return perform_train_step


torch.manual_seed(42)
x = torch.rand(100, 1)
y = 1 + 2 * x + 0.1 * torch.randn(100, 1)
model = nn.Linear(1, 1)
train_step = make_train_step(model, nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.2))
losses = [train_step(x[rows], y[rows]) for epoch in range(20) for rows in torch.arange(100).split(20)]
print(losses[-1], model.state_dict())
