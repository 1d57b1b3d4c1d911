"""OK: fp16 autocast with a GradScaler; zero, scale, backward, scaler.step, update in the documented order."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
scaler = torch.amp.GradScaler("cpu")
x = torch.randn(160, 12)
y = x[:, :4].argmax(1)
for epoch in range(4):
    for rows in torch.randperm(160).split(40):
        opt.zero_grad()
        with torch.autocast(device_type="cpu", dtype=torch.float16):
            logits = net(x[rows])
            loss = nn.functional.cross_entropy(logits, y[rows])
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
print("loss", loss.item(), "scale", scaler.get_scale())
