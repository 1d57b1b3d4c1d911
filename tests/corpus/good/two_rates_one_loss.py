"""OK: one loss trains encoder and head, the head is stepped every second batch and each is cleared after its own step."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(26)
x_all = torch.randn(36, 6)
y_all = x_all @ torch.randn(6, 2)
loader = DataLoader(TensorDataset(x_all, y_all), batch_size=6)
encoder, decoder = nn.Linear(6, 8), nn.Linear(8, 2)
fast = torch.optim.SGD(encoder.parameters(), lr=0.02)
slow = torch.optim.Adam(decoder.parameters(), lr=0.01)

for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(decoder(torch.relu(encoder(x))), y) / 2
        loss.backward()
        if (i + 1) % 2 == 0:
            slow.step()
            slow.zero_grad()
        fast.step()
        fast.zero_grad()
    print("epoch", epoch, loss.item())
