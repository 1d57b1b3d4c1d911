"""BUG: the optimizer of a loaded model was given its body only."""
import io
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


torch.manual_seed(0)
saved = io.BytesIO()
torch.save({"model": Net().state_dict()}, saved)
saved.seek(0)
checkpoint = torch.load(saved)

net = Net()
net.load_state_dict(checkpoint["model"])
optimizer = torch.optim.Adam(net.body.parameters(), lr=1e-3)  # expect: GL402
for _ in range(30):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()  # expect: GL402
    optimizer.step()
print(loss.item())
