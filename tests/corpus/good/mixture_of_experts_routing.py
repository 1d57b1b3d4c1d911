"""OK: hard routing sends samples to few experts and adds a balance loss; experts that were not used have no gradient in that step."""
import torch
from torch import nn


class MoE(nn.Module):
    def __init__(self, d, experts):
        super().__init__()
        self.gate = nn.Linear(d, experts)
        self.experts = nn.ModuleList([nn.Linear(d, 1) for _ in range(experts)])

    def forward(self, x):
        prob = self.gate(x).softmax(-1)
        weight, choice = prob.max(-1)
        y = x.new_zeros(len(x), 1)
        for k, expert in enumerate(self.experts):
            rows = (choice == k).nonzero().squeeze(1)
            if len(rows):
                y = y.index_add(0, rows, weight[rows, None] * expert(x[rows]))
        share = torch.bincount(choice, minlength=len(self.experts)) / len(x)
        return y, (share * prob.mean(0)).sum() * len(self.experts)


torch.manual_seed(0)
moe = MoE(4, 6)
optimizer = torch.optim.Adam(moe.parameters(), lr=1e-2)
for step in range(50):
    x = torch.randn(6, 4)
    y, balance = moe(x)
    loss = (y - x[:, :1].abs()).pow(2).mean()
    optimizer.zero_grad()
    (loss + 0.01 * balance).backward()
    optimizer.step()
print(loss.item(), balance.item())
