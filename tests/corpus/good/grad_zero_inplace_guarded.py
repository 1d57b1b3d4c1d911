"""OK: p.grad.zero_() runs behind a None check before each forward, also for a parameter that never takes part."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(5, 12)
        self.out = nn.Linear(12, 1)
        self.unused_scale = nn.Parameter(torch.ones(1))  # kept for old checkpoints

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


torch.manual_seed(2)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
data = torch.randn(160, 5)
target = data.abs().sum(1, keepdim=True)

for epoch in range(6):
    for lo in range(0, 160, 32):
        for p in net.parameters():
            if p.grad is not None:
                p.grad.zero_()
        loss = (net(data[lo:lo + 32]) - target[lo:lo + 32]).square().mean()
        loss.backward()
        opt.step()

print(loss.item(), net.unused_scale.item())
