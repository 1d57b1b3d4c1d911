"""OK: the loader's last batch is smaller; each loss is weighted by its share of the samples of its own window, so the mean is exact."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
N, B, ACC = 93, 12, 3  # 8 batches, the last of 9 samples; windows of 3, 3 and 2
x = torch.randn(N, 4)
loader = DataLoader(TensorDataset(x, x.exp().sum(1, keepdim=True)), batch_size=B, shuffle=True)
model = nn.Sequential(nn.Linear(4, 16), nn.Softplus(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(4):
    for i, (xb, yb) in enumerate(loader):
        first = (i // ACC) * ACC * B
        samples_in_window = min(N - first, ACC * B)
        loss = nn.functional.mse_loss(model(xb), yb)
        (loss * (xb.size(0) / samples_in_window)).backward()
        if (i + 1) % ACC == 0 or i == len(loader) - 1:
            optimizer.step()
            optimizer.zero_grad()
print("loss", loss.item())
