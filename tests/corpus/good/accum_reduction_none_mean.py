"""OK: per-sample losses are averaged once with mean() and then divided by the window: two different divisions, both needed."""
import torch
from torch import nn

torch.manual_seed(0)
criterion = nn.CrossEntropyLoss(reduction="none")
net = nn.Linear(8, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.3)
n_gpu, accumulation = 1, 3
for epoch in range(2):
    for step, x in enumerate(torch.randn(12, 10, 8)):
        loss = criterion(net(x), x[:, :4].argmax(1)).mean()
        loss = loss.mean()  # a scalar already; kept for the case of several devices
        if accumulation > 1:
            loss = loss / accumulation
        loss.backward()
        if (step + 1) % accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()
print("loss", loss.item() * accumulation)
