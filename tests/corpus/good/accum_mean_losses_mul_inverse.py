"""OK: mean losses are summed over N equal micro-batches and every gradient multiplied by 1/N right before the step."""
import torch
from torch import nn


@torch.no_grad()
def scale_grads(params, factor):
    for p in params:
        if p.grad is not None:
            p.grad.mul_(factor)


torch.manual_seed(0)
lstm = nn.LSTM(3, 8, batch_first=True)
out = nn.Linear(8, 3)
params = [*lstm.parameters(), *out.parameters()]
optimizer = torch.optim.RMSprop(params, lr=3e-3)
N = 3
stream = torch.randn(18, 6, 9, 3).cumsum(2)
for epoch in range(2):
    for i, seq in enumerate(stream):
        h, _ = lstm(seq[:, :-1])
        loss = nn.functional.smooth_l1_loss(out(h), seq[:, 1:])
        loss.backward()
        if i % N == N - 1:
            scale_grads(params, 1 / N)
            optimizer.step()
            optimizer.zero_grad()
print("loss", loss.item())
