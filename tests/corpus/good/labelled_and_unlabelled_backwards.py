"""OK: a supervised and a consistency loss are differentiated one after the other to save memory and summed on purpose."""
import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
labelled = TensorDataset(torch.randn(64, 10), torch.randint(0, 3, (64,)))
unlabelled = TensorDataset(torch.randn(320, 10))
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.05, nesterov=True, momentum=0.9)

for epoch in range(3):
    stream = itertools.cycle(DataLoader(labelled, 16, shuffle=True))
    for (u,), (x, y) in zip(DataLoader(unlabelled, 64, shuffle=True), stream):
        opt.zero_grad()
        supervised = nn.functional.cross_entropy(net(x), y)
        supervised.backward()
        with torch.no_grad():
            belief = net(u).softmax(1)
        consistency = nn.functional.kl_div(net(u + 0.05 * torch.randn_like(u)).log_softmax(1), belief,
                                           reduction="batchmean")
        (0.3 * consistency).backward()
        opt.step()
print(supervised.item(), consistency.item())
