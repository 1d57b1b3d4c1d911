"""BUG: the cosine schedule is planned over optimizer updates but advances at every micro-batch."""
import math

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, TensorDataset


def fit(loader, epochs=3, accumulation=4):
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    updates_per_epoch = math.ceil(len(loader) / accumulation)
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs * updates_per_epoch)

    rates = []
    for epoch in range(epochs):
        for index, (x, y) in enumerate(loader, start=1):
            loss = nn.functional.cross_entropy(model(x), y) / accumulation
            loss.backward()
            if index % accumulation == 0:
                optimizer.step()
                optimizer.zero_grad()
            scheduler.step()  # expect: GL205
            rates.append(scheduler.get_last_lr()[0])
        print("epoch", epoch, "loss", loss.item() * accumulation, "lr", rates[-1])
    return rates


torch.manual_seed(110)
x = torch.randn(192, 6)
fit(DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=12, shuffle=True))
