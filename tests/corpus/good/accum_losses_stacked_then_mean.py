"""OK: the losses of a window wait in a list with their graphs, one backward() of their mean uses them all."""
import torch
from torch import nn

torch.manual_seed(0)
X = torch.randn(200, 8)
Y = X @ torch.randn(8, 1) + 0.1 * torch.randn(200, 1)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    losses = []
    for step, (xb, yb) in enumerate(zip(X.split(20), Y.split(20))):
        losses.append(nn.functional.mse_loss(model(xb), yb))
        if (step + 1) % 5 == 0:
            total = torch.stack(losses).mean()
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            losses = []
    print(epoch, total.item())
print("done", total.item())
