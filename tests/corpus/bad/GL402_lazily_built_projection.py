"""BUG: forward() creates a projection layer on the first call, after the optimizer was built without it."""
import torch
from torch import nn


class MetricNet(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.body = nn.Sequential(nn.Linear(9, 20), nn.ReLU())
        self.project = None

    def forward(self, x):
        h = self.body(x)
        if self.project is None:
            self.project = nn.Linear(h.shape[-1], self.dim)
        return nn.functional.normalize(self.project(h), dim=-1)


torch.manual_seed(218)
prototypes = torch.randn(6, 9)
net = MetricNet(dim=5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)  # expect: GL402
criterion = nn.TripletMarginLoss(margin=1.0)

step = 0
while step < 24:
    kind = torch.randint(0, 6, (32,))
    other = (kind + torch.randint(1, 6, (32,))) % 6
    anchor, positive, negative = (prototypes[k] + 1.5 * torch.randn(32, 9) for k in (kind, kind, other))
    optimizer.zero_grad()
    loss = criterion(net(anchor), net(positive), net(negative))
    loss.backward()  # expect: GL402
    optimizer.step()
    step += 1

print("triplet loss", loss.item())
