"""OK: each time step's loss is differentiated on its own (the shared graph is kept), and one step follows the whole sequence."""
import torch
from torch import nn

torch.manual_seed(0)
rnn = nn.RNNCell(3, 8)
out = nn.Linear(8, 3)
model = nn.ModuleList([rnn, out])
opt = torch.optim.SGD(model.parameters(), lr=0.02)

T = 6
for sequence in range(25):
    xs = torch.randn(T + 1, 10, 3)
    h = torch.zeros(10, 8)
    opt.zero_grad()
    for t in range(T):
        h = rnn(xs[t], h)
        step_loss = (out(h) - xs[t]).pow(2).mean() / T
        step_loss.backward(retain_graph=t < T - 1)
    opt.step()
print("last step loss", step_loss.item())
