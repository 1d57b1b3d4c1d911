"""A training loop without zero_grad(): every gradient is the sum of all passes so far.

gradledger run examples/without_clearing.py    says GL101
"""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 2)
y = x @ torch.tensor([[2.0], [-1.0]])

for iteration in range(4):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    print(f"iteration {iteration}: loss {loss.item():.4f}")
    for name, parameter in model.named_parameters():
        print(f"  {name}.grad =", [round(g, 4) for g in parameter.grad.flatten().tolist()])
    optimizer.step()
