# codes: GL106
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.1 * torch.randn(64, 1)

for step in range(30):
    optimizer.zero_grad()
    loss = (model(x) - y).square().mean()
    loss = torch.tensor(loss.item(), requires_grad=True)
    loss.backward()
    optimizer.step()

print(f"loss after 30 steps: {loss.item():.4f}")
