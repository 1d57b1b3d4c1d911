"""BUG: a new GradScaler is created for each batch, so its scale is reset every time."""
import torch
from torch import nn
from torch.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(184)
x = torch.randn(120, 2, 16)
y = x.amax(dim=2)
loader = DataLoader(TensorDataset(x, y), batch_size=15, shuffle=True)
model = nn.Sequential(nn.Conv1d(2, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(2):
    for inputs, targets in loader:
        scaler = GradScaler("cpu", init_scale=1024.0)  # expect: GL308
        optimizer.zero_grad()
        with autocast("cpu", dtype=torch.bfloat16):
            outputs = model(inputs)
        loss = nn.functional.mse_loss(outputs.float(), targets)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    print("epoch", epoch, "loss", loss.item())
