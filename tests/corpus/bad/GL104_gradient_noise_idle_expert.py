"""BUG: annealed noise is added to every parameter's .grad, but an expert that got no sample has .grad None."""
import torch
from torch import nn


class HardMixture(nn.Module):
    def __init__(self, experts=3, dim=4):
        super().__init__()
        self.stem = nn.Linear(dim, 12)
        self.experts = nn.ModuleList(nn.Linear(12, 1) for _ in range(experts))

    def forward(self, x, domain):
        h = torch.tanh(self.stem(x))
        out = x.new_zeros(len(x), 1)
        for k, expert in enumerate(self.experts):
            rows = (domain == k).nonzero().squeeze(1)
            if len(rows):
                out = out.index_copy(0, rows, expert(h[rows]))
        return out


def add_gradient_noise(parameters, step, eta=0.01, gamma=0.55):
    std = (eta / (1 + step) ** gamma) ** 0.5
    for p in parameters:
        p.grad.add_(torch.randn_like(p), alpha=std)  # expect: GL104


def epoch_batches(epoch, g):
    for _ in range(5):
        x = torch.randn(18, 4, generator=g)
        # the third domain is only part of the curriculum's first two epochs
        domain = torch.arange(18) % (3 if epoch < 2 else 2)
        yield x, domain, x.sum(1, keepdim=True) * (1.0 + domain[:, None])


torch.manual_seed(13)
g = torch.Generator().manual_seed(14)
model = HardMixture()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
step = 0
for epoch in range(4):
    for x, domain, y in epoch_batches(epoch, g):
        optimizer.zero_grad()
        loss = (model(x, domain) - y).pow(2).mean()
        loss.backward()
        add_gradient_noise(model.parameters(), step)
        optimizer.step()
        step += 1
    print("epoch", epoch, round(loss.item(), 4))
