"""OK: chunks of unequal length are weighted by len(chunk) / len(batch), so their sum is exactly the whole batch's mean."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(7, 14), nn.GELU(), nn.Linear(14, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(230, 7)
label = (data[:, 0] > data[:, 1]).long()


def train_batch(x, y, micro=16):
    opt.zero_grad(set_to_none=True)
    total = 0.0
    for sub_x, sub_y in zip(x.split(micro), y.split(micro)):
        loss = nn.functional.cross_entropy(net(sub_x), sub_y) * len(sub_x) / len(x)
        loss.backward()
        total += loss.item()
    opt.step()
    return total


for epoch in range(4):
    order = torch.randperm(230)
    for part in order.split(50):
        value = train_batch(data[part], label[part])
print("loss", value)
