"""OK: clip_grad_norm_ with an infinite bound only measures, so it may run at every micro-batch; the real clip is at the window's end."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
window, norms = 4, []
for epoch in range(2):
    opt.zero_grad()
    for i, x in enumerate(torch.randn(16, 8, 5)):
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean() / window
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(net.parameters(), float("inf")).item())
        if (i + 1) % window == 0:
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            after = nn.utils.clip_grad_norm_(net.parameters(), torch.inf)
            opt.zero_grad()
print("norms", norms[:4], "after the clip", after.item())
