"""OK: Lightning Fabric: fabric.backward on loss / n, no_backward_sync while accumulating, step and clear at the window's end."""
import warnings

import torch
from lightning.fabric import Fabric
from torch import nn

warnings.filterwarnings("ignore")
fabric = Fabric(accelerator="cpu", devices=1)
fabric.seed_everything(0, verbose=False)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
model, optimizer = fabric.setup(model, optimizer)
n = 4
for epoch in range(2):
    for i, x in enumerate(torch.randn(16, 8, 4)):
        is_accumulating = (i + 1) % n != 0
        with fabric.no_backward_sync(model, enabled=is_accumulating):
            loss = nn.functional.mse_loss(model(x), x[:, :1])
            fabric.backward(loss / n)
        if not is_accumulating:
            fabric.clip_gradients(model, optimizer, max_norm=1.0)
            optimizer.step()
            optimizer.zero_grad()
print("loss", loss.item())
