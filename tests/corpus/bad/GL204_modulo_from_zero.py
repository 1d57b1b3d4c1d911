"""BUG: stepping at `i % accum == 0` makes the first window of each epoch a single batch."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(100)
a, b = torch.randn(130, 7), torch.randn(130, 7)
same = ((a * b).sum(1) > 0).float().unsqueeze(1)
loader = DataLoader(TensorDataset(torch.cat([a, b], 1), same), batch_size=10, shuffle=True)

model = nn.Sequential(nn.Linear(14, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()
accum = 4

for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) / accum
        loss.backward()
        if i % accum == 0:  # expect: GL204
            optimizer.step()  # expect: GL204
            optimizer.zero_grad()
    print(f"epoch {epoch} loss {loss.item() * accum:.4f}")
