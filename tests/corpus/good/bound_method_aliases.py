"""OK: zero, step and backward are called through bound methods kept in variables, a partial and operator.methodcaller."""
from functools import partial
from operator import methodcaller

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 3)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
clear, step = partial(sgd.zero_grad, set_to_none=True), sgd.step
differentiate = methodcaller("backward")
cycle = [lambda _: clear(), differentiate, lambda _: step()]
for x in torch.randn(40, 10, 3):
    loss = nn.functional.mse_loss(net(x), x.flip(1))
    for action in cycle:
        action(loss)
print("loss", loss.item())
