"""OK: losses are kept as detached tensors, running averages and Python floats, so no graph survives its iteration."""
import statistics

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
tensors, floats, running, total = [], [], torch.zeros(()), 0.0
outputs = []
for epoch in range(3):
    for x in torch.randn(10, 16, 4):
        opt.zero_grad()
        out = net(x)
        loss = (out - x.pow(2).sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        opt.step()
        tensors.append(loss.detach())
        floats.append(float(loss.detach()))
        outputs.append(out.detach().cpu().numpy())
        with torch.no_grad():
            running += loss
        total += loss.item()
        net.last_loss = loss.data
print(torch.stack(tensors).mean().item(), statistics.fmean(floats), running.item() / 30, total / 30, len(outputs))
