"""BUG: the iterator of parameters was used up by the optimizer: nothing is clipped."""
import torch
from torch import nn
model = nn.Linear(5, 1)
params = model.parameters()
opt = torch.optim.SGD(params, lr=0.1)
for i in range(8):
    opt.zero_grad()
    loss = model(torch.randn(4, 5)).square().mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 0.5)  # expect: GL309
    opt.step()
