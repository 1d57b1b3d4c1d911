"""BUG: the flush after the loop steps even when the last window was complete, applying it twice."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def run_epoch(model, optimizer, loader, accumulate):
    for i, (x, y) in enumerate(loader):
        if i % accumulate == 0:
            optimizer.zero_grad()
        loss = nn.functional.poisson_nll_loss(model(x), y) / accumulate
        loss.backward()
        if i % accumulate == accumulate - 1:
            optimizer.step()
    optimizer.step()  # expect: GL105
    return loss.item() * accumulate


torch.manual_seed(41)
rates = torch.randn(144, 4)
counts = torch.poisson(rates.sum(1, keepdim=True).clamp(-2, 2).exp())
loader = DataLoader(TensorDataset(rates, counts), batch_size=12)
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    print(epoch, run_epoch(model, optimizer, loader, accumulate=4))
