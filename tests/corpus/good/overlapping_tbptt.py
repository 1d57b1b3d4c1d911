"""OK: truncated BPTT with overlapping windows re-enters kept graphs by chaining state gradients, then steps once per sequence."""
import torch
from torch import nn


def run_sequence(cell, head, xs, ys, k1, k2):
    """Every k1 steps, the loss at that step flows back through k2 steps."""
    links = []
    carry = torch.zeros(xs.size(1), cell.hidden_size)
    value = 0.0
    for j in range(xs.size(0)):
        before = carry.detach().requires_grad_()
        after = cell(xs[j], before)
        links.append((before, after))
        del links[:-k2]
        if (j + 1) % k1 == 0:
            loss = (head(after) - ys[j]).square().mean()
            loss.backward(retain_graph=True)
            value += loss.item()
            for newer, older in zip(reversed(links[1:]), reversed(links[:-1])):
                message, newer[0].grad = newer[0].grad, None
                older[1].backward(message, retain_graph=True)
            links[0][0].grad = None
        carry = after
    return value


torch.manual_seed(0)
cell = nn.RNNCell(2, 6)
head = nn.Linear(6, 1)
opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-2)
for sequence in range(20):
    xs = torch.randn(12, 4, 2)
    ys = xs.sum(-1, keepdim=True).cumsum(0)
    opt.zero_grad()
    value = run_sequence(cell, head, xs, ys, k1=2, k2=4)
    opt.step()
print("loss", value)
