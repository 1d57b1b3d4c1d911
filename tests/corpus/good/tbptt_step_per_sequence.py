"""OK: a long sequence is differentiated chunk by chunk with a detached state, and one step applies the sum over its time steps."""
import torch
from torch import nn

torch.manual_seed(0)
rnn = nn.GRU(2, 10, batch_first=True)
head = nn.Linear(10, 1)
model = nn.ModuleList([rnn, head])
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for sequence in range(15):
    x = torch.randn(6, 60, 2)
    y = x.sum(-1, keepdim=True).roll(2, dims=1)
    opt.zero_grad()
    state, total = None, 0.0
    for xs, ys in zip(x.split(15, dim=1), y.split(15, dim=1)):
        if state is not None:
            state = state.detach()
        out, state = rnn(xs, state)
        loss = nn.functional.mse_loss(head(out), ys, reduction="sum") / y.numel()
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
print("loss", total)
