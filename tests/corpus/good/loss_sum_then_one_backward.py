"""OK: losses of a sequence are added up with their graphs on purpose, differentiated once and forgotten at the next sequence."""
import torch
from torch import nn

torch.manual_seed(0)
cell = nn.GRUCell(2, 10)
readout = nn.Linear(10, 2)
opt = torch.optim.Adam(list(cell.parameters()) + list(readout.parameters()), lr=1e-2)

epoch_losses = []
for epoch in range(3):
    epoch_loss = 0
    for batch in range(5):
        walk = torch.randn(8, 12, 2).cumsum(1)
        h = torch.zeros(8, 10)
        total = 0
        for t in range(walk.size(1) - 1):
            h = cell(walk[:, t], h)
            total += nn.functional.mse_loss(readout(h), walk[:, t + 1])
        opt.zero_grad()
        total.backward()
        opt.step()
        epoch_loss += total.item()
    epoch_losses.append(epoch_loss)
print(epoch_losses)
