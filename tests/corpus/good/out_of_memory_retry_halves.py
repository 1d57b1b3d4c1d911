"""OK: when a batch is too large the partial gradients are cleared and it is redone in halves, weighted by their share of the batch."""
import torch
from torch import nn

LIMIT = 40


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        if len(x) > LIMIT:
            raise MemoryError(f"{len(x)} rows do not fit")
        return self.layers(x)


def accumulate(net, x, y, parts):
    for xs, ys in zip(x.tensor_split(parts), y.tensor_split(parts)):
        loss = nn.functional.mse_loss(net(xs), ys) * (len(xs) / len(x))
        loss.backward()


torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
retries = 0
for size in [30, 75, 40, 100, 81, 12] * 3:
    x = torch.randn(size, 5)
    y = x.norm(dim=1, keepdim=True)
    parts = 1
    while True:
        opt.zero_grad()
        try:
            accumulate(net, x, y, parts)
            break
        except MemoryError:
            parts *= 2
            retries += 1
    opt.step()
print("retries", retries, "loss", nn.functional.mse_loss(net.layers(x), y).item())
