"""The same loop with zero_grad(): every gradient is that of the present pass."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 2)
y = x @ torch.tensor([[2.0], [-1.0]])

for iteration in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    print(f"iteration {iteration}: loss {loss.item():.4f}")
    for name, parameter in model.named_parameters():
        print(f"  {name}.grad =", [round(g, 4) for g in parameter.grad.flatten().tolist()])
    optimizer.step()
