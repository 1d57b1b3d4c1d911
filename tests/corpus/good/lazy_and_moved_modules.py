"""OK: lazy layers take shape in place and .double() swaps the data of the same Parameter objects, so the optimizer still holds them."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.LazyConv2d(4, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
with torch.no_grad():
    net(torch.zeros(1, 1, 6, 6))  # shapes are known from here on
net.double()
for x in torch.rand(30, 12, 1, 6, 6, dtype=torch.float64):
    y = (x.mean((1, 2, 3)) > 0.5).long()
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
print("loss", loss.item(), net[3].weight.dtype)
