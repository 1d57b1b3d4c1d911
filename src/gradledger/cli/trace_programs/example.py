"""A small classifier on generated data: 1000 rows, 10 features, 5 epochs."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
features = torch.randn(1000, 10)
direction = torch.randn(10)
labels = (features @ direction + 0.9 * torch.randn(1000) > 0).long()

loader = DataLoader(TensorDataset(features, labels), batch_size=20, shuffle=True)
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.025, momentum=0.5)

for epoch in range(5):
    for inputs, targets in loader:
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
