"""BUG: scheduler.step() is inside the loop over chunks although step_size counts the updates of one epoch."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import StepLR

torch.manual_seed(118)
digits = load_digits()
x = torch.tensor(digits.data[:600], dtype=torch.float32) / 16
y = torch.tensor(digits.target[:600])

net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
opt = SGD(net.parameters(), lr=0.2)
batch, pieces = 60, 3
updates_per_epoch = len(x) // batch
decay = StepLR(opt, step_size=updates_per_epoch, gamma=0.5)

for epoch in range(3):
    for rows in torch.randperm(len(x)).split(batch):
        opt.zero_grad()
        for part in rows.chunk(pieces):
            loss = nn.functional.cross_entropy(net(x[part]), y[part]) / pieces
            loss.backward()
            decay.step()  # expect: GL205
        opt.step()
    print("epoch", epoch, "lr", opt.param_groups[0]["lr"], "loss", loss.item() * pieces)
