"""OK: drop_last removes the ragged batch and the loop ends at the last full window, so the few left batches are not computed at all."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(219, 5)
loader = DataLoader(TensorDataset(x, x.prod(1, keepdim=True)), batch_size=16, shuffle=True, drop_last=True)  # 13
model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
n = 4
usable = len(loader) - len(loader) % n
for epoch in range(3):
    for i, (xb, yb) in enumerate(loader):
        if i >= usable:
            continue
        loss = nn.functional.mse_loss(model(xb), yb) / n
        loss.backward()
        if (i + 1) % n == 0:
            opt.step()
            opt.zero_grad(set_to_none=True)
print("loss", loss.item() * n)
