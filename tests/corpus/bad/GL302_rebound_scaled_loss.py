"""BUG: the accumulated loss was scaled by the GradScaler, but the window is closed with optimizer.step()."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(146)
x = torch.randn(192, 8)
loader = DataLoader(TensorDataset(x, x.median(dim=1, keepdim=True).values), batch_size=12, shuffle=True)
net = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
accum_iter = 4

for epoch in range(2):
    optimizer.zero_grad()
    for it, (samples, targets) in enumerate(loader):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            outputs = net(samples)
        loss = nn.functional.mse_loss(outputs.float(), targets)
        loss_value = loss.item()
        loss = loss / accum_iter
        loss = scaler.scale(loss)
        loss.backward()
        if (it + 1) % accum_iter == 0:
            optimizer.step()  # expect: GL302
            optimizer.zero_grad()
    print("epoch", epoch, "loss", loss_value)
