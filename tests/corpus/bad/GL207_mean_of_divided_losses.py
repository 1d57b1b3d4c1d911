"""BUG: every chunk's loss is divided by the number of chunks, and then the mean of the chunks is taken."""
import torch
from torch import nn

torch.manual_seed(128)
grid = torch.rand(256, 2) * 2 - 1
height = torch.exp(-4 * grid.square().sum(1, keepdim=True))
field = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(field.parameters(), lr=0.5)
NUM_CHUNKS = 4


def chunk_losses(points, values):
    out = []
    for p, v in zip(points.chunk(NUM_CHUNKS), values.chunk(NUM_CHUNKS)):
        out.append(nn.functional.mse_loss(field(p), v) / NUM_CHUNKS)  # expect: GL207
    return torch.stack(out)


for epoch in range(3):
    for pick in torch.randperm(256).split(64):
        optimizer.zero_grad()
        losses = chunk_losses(grid[pick], height[pick])
        loss = losses.mean()  # expect: GL207
        loss.backward()  # expect: GL207
        optimizer.step()
    print(epoch, loss.item())
