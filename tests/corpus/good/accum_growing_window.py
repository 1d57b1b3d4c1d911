"""OK: the window grows from 1 to 2 to 4 by a schedule; each window divides by its own size and epochs hold whole windows."""
import torch
from torch import nn

torch.manual_seed(0)
policy = {0: 1, 2: 2, 4: 4}
net = nn.Sequential(nn.Linear(6, 12), nn.SiLU(), nn.Linear(12, 1))
sgd = torch.optim.SGD(net.parameters(), lr=0.02)
accumulate = 1
updates = []
for epoch in range(6):
    accumulate = policy.get(epoch, accumulate)
    count = 0
    for step, x in enumerate(torch.randn(8, 10, 6)):
        if step % accumulate == 0:
            sgd.zero_grad()
        loss = (net(x) - x.sum(1, keepdim=True).sin()).pow(2).mean()
        loss.div(accumulate).backward()
        if step % accumulate == accumulate - 1:
            sgd.step()
            count += 1
    updates.append(count)
print("updates per epoch", updates, "loss", loss.item())
