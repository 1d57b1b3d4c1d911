"""BUG: after scaler.step() the old optimizer.step() was left in place and applies the same gradients again."""
import torch
from torch import nn

torch.manual_seed(44)
series = torch.cumsum(torch.randn(140, 12), dim=1)
net = nn.RNN(1, 16, batch_first=True)
head = nn.Linear(16, 1)
optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=128.0)

for epoch in range(2):
    for rows in series.split(20):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            states, _ = net(rows[:, :-1, None])
            forecast = head(states[:, -1])
        loss = nn.functional.mse_loss(forecast.float(), rows[:, -1:])
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.step()  # expect: GL105|GL302

print("loss", loss.item())
