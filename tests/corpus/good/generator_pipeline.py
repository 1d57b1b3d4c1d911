"""OK: generators interleave: one yields cleared optimizers with batches, another differentiates, the consumer steps and asks for more."""
import torch
from torch import nn


def batches(n, size):
    generator = torch.Generator().manual_seed(0)
    for _ in range(n):
        x = torch.randn(size, 4, generator=generator)
        yield x, x.abs().max(1, keepdim=True).values


def prepared(stream, optimizer):
    for batch in stream:
        optimizer.zero_grad()
        yield batch


def differentiated(stream, model):
    for x, y in stream:
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        yield loss.item()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for value in differentiated(prepared(batches(20, 16), optimizer), model):
        optimizer.step()
print("loss", value)
