"""OK: a large batch is cut into equal chunks, each loss is divided by the number of chunks, and the step comes after the inner loop."""
import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
bunch = load_digits()
X = torch.tensor(bunch.data, dtype=torch.float32) / 16
y = torch.tensor(bunch.target)
mlp = nn.Sequential(nn.Linear(64, 40), nn.ReLU(), nn.Linear(40, 10))
optimizer = torch.optim.AdamW(mlp.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(2):
    perm = torch.randperm(len(X))[:1792]
    for big in perm.split(256):
        optimizer.zero_grad()
        chunks = big.chunk(4)
        for chunk in chunks:
            loss = criterion(mlp(X[chunk]), y[chunk]) / len(chunks)
            loss.backward()
        optimizer.step()
print("last chunk loss", loss.item() * 4)
