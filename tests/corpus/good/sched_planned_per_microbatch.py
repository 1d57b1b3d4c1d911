"""OK: the one-cycle plan counts micro-batches (total_steps=len(loader) * epochs) and is advanced per micro-batch, as planned."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(160, 5)
loader = DataLoader(TensorDataset(x, x[:, :1]), batch_size=10)
epochs, accumulate = 3, 4
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=len(loader) * epochs)
for epoch in range(epochs):
    for i, (xb, yb) in enumerate(loader):
        loss = nn.functional.mse_loss(model(xb), yb) / accumulate
        loss.backward()
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()
print("loss", loss.item() * accumulate, "lr", scheduler.get_last_lr()[0])
