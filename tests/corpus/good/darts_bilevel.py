"""OK: architecture and weights alternate; each backward also fills the other side, which is cleared before its own turn."""
import torch
from torch import nn


class Mixed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ops = nn.ModuleList([nn.Linear(width, width), nn.Identity(), nn.Sequential(nn.Linear(width, width), nn.ReLU())])
        self.alpha = nn.Parameter(1e-3 * torch.randn(3))
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        mix = self.alpha.softmax(0)
        return self.head(sum(w * op(x) for w, op in zip(mix, self.ops)))

    def weights(self):
        return [p for n, p in self.named_parameters() if n != "alpha"]


torch.manual_seed(0)
net = Mixed(6)
w_optim = torch.optim.SGD(net.weights(), lr=0.05, momentum=0.9)
a_optim = torch.optim.Adam([net.alpha], lr=1e-2)
train_x, valid_x = torch.randn(120, 6), torch.randn(120, 6)
rule = lambda x: x.relu().sum(1, keepdim=True)

for epoch in range(4):
    for tx, vx in zip(train_x.split(30), valid_x.split(30)):
        a_optim.zero_grad()
        valid_loss = (net(vx) - rule(vx)).pow(2).mean()
        valid_loss.backward()
        a_optim.step()

        w_optim.zero_grad()
        train_loss = (net(tx) - rule(tx)).pow(2).mean()
        train_loss.backward()
        nn.utils.clip_grad_norm_(net.weights(), 5.0)
        w_optim.step()
print(valid_loss.item(), train_loss.item(), net.alpha.softmax(0).tolist())
