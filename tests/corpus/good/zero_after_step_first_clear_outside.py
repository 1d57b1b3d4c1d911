"""OK: one clear before training and one after each step leave every backward a clean slate."""
import torch
from torch import nn


def train(model, batches, optim, epochs):
    model.train()
    optim.zero_grad(set_to_none=False)
    for _ in range(epochs):
        for features, target in batches:
            nn.functional.mse_loss(model(features), target).backward()
            optim.step()
            optim.zero_grad(set_to_none=False)


torch.manual_seed(7)
weights = torch.randn(6, 2)
batches = [(x, x @ weights) for x in torch.randn(12, 16, 6)]
model = nn.Linear(6, 2)
train(model, batches, optim=torch.optim.RMSprop(model.parameters(), lr=1e-2), epochs=4)
print("error", (model.weight.T - weights).abs().max().item())
