"""OK: on resuming, the scheduler is moved to where the old run stopped before the loop begins; no training step is missed."""
import warnings

import torch
from torch import nn


def build():
    torch.manual_seed(0)
    model = nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)


def epochs(model, optimizer, scheduler, first, last):
    for epoch in range(first, last):
        torch.manual_seed(100 + epoch)
        for x in torch.randn(6, 8, 5):
            optimizer.zero_grad()
            loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
            loss.backward()
            optimizer.step()
        scheduler.step()
    return loss.item()


model, optimizer, scheduler = build()
epochs(model, optimizer, scheduler, 0, 3)
weights = model.state_dict()

model, optimizer, scheduler = build()
model.load_state_dict(weights)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    for _ in range(3):
        scheduler.step()
print("loss", epochs(model, optimizer, scheduler, 3, 6), "lr", scheduler.get_last_lr())
