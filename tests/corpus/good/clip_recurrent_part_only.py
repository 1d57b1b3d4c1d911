"""OK: only the recurrent weights are clipped, by value in a tensor hook and by norm before the step; the rest is left alone on purpose."""
import torch
from torch import nn

torch.manual_seed(0)
rnn = nn.LSTM(3, 12, batch_first=True)
head = nn.Linear(12, 1)
for p in rnn.parameters():
    p.register_hook(lambda g: g.clamp(-0.5, 0.5))
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
for x in torch.randn(30, 8, 20, 3):
    y, _ = rnn(x)
    loss = (head(y[:, -1]) - x.sum((1, 2)).sign().unsqueeze(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(rnn.parameters(), max_norm=0.2)
    optimizer.step()
print("loss", loss.item())
