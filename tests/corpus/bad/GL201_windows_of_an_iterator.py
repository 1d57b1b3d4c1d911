"""BUG: five micro-batches from an iterator make one update, and their mean losses are summed."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(200, 8)
Y = X @ torch.randn(8, 1) + 0.1 * torch.randn(200, 1)
loader = DataLoader(TensorDataset(X, Y), batch_size=10, shuffle=True, drop_last=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.MSELoss()
grad_accum = 5

for epoch in range(3):
    it = iter(loader)
    for update in range(len(loader) // grad_accum):
        optimizer.zero_grad(set_to_none=True)
        for micro_step in range(grad_accum):
            xb, yb = next(it)
            loss = loss_fn(model(xb), yb)
            loss.backward()  # expect: GL201
        optimizer.step()
    print(epoch, loss.item())
