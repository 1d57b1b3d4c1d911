"""OK: batches are sent into a coroutine that clears, differentiates and steps."""
import torch
from torch import nn


def trainer(model, opt):
    """A coroutine: send batches, receive losses."""
    loss = None
    while True:
        batch = yield loss
        if batch is None:
            return
        x, y = batch
        opt.zero_grad()
        out = nn.functional.mse_loss(model(x), y)
        out.backward()
        opt.step()
        loss = out.item()


torch.manual_seed(0)
m = nn.Linear(4, 1)
co = trainer(m, torch.optim.SGD(m.parameters(), lr=0.1))
next(co)
for _ in range(30):
    x = torch.randn(8, 4)
    value = co.send((x, x.sum(1, keepdim=True)))
co.close()
print(value)
