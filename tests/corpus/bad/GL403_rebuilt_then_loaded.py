"""BUG: the model is built anew and loaded after the optimizer."""
import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 2))


torch.manual_seed(0)
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # expect: GL403|GL402
pretrained = build().state_dict()
model = build()
model.load_state_dict(pretrained)
for i in range(20):
    x = torch.randn(8, 5)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()  # expect: GL403|GL402
    optimizer.step()
print(loss.item())
