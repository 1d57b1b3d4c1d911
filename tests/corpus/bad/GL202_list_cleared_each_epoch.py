"""BUG: the batches after the last full window are cleared at the start of the next epoch."""
import torch
from torch import nn


def train(model, data, epochs, accum):
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        opt.zero_grad()
        for i in range(len(data)):
            x, y = data[i]
            loss = nn.functional.cross_entropy(model(x), y) / accum
            loss.backward()
            if (i + 1) % accum == 0:  # expect: GL202
                opt.step()  # expect: GL202
                opt.zero_grad()


train(nn.Linear(6, 3), [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(11)], 3, 4)
