"""BUG: the clip runs before backward(), when the gradients have just been cleared."""
import torch
from torch import nn


class Stepper:
    def __init__(self, module, lr, bound):
        self.module = module
        self.bound = bound
        self.optimizer = torch.optim.SGD(module.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)

    def __call__(self, loss):
        self.optimizer.zero_grad()
        nn.utils.clip_grad_norm_(self.module.parameters(), self.bound)  # expect: GL304
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(162)
table = torch.randn(150, 12)
columns = table[:, :4].clone()
net = nn.Sequential(nn.Linear(8, 24), nn.Mish(), nn.Linear(24, 4))
stepper = Stepper(net, lr=0.02, bound=0.05)
for epoch in range(3):
    for rows in torch.randperm(150).split(25):
        value = stepper(nn.functional.mse_loss(net(table[rows, 4:]), columns[rows]))
    print("epoch", epoch, value)
