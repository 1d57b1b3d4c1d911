"""OK: a chained schedule per epoch and a cyclic one per batch drive two optimizers, each advanced after its optimizer's step."""
import torch
from torch import nn
from torch.optim.lr_scheduler import ChainedScheduler, ConstantLR, CyclicLR, ExponentialLR, MultiStepLR

torch.manual_seed(0)
left, right = nn.Linear(4, 4), nn.Linear(4, 1)
opt_left = torch.optim.SGD(left.parameters(), lr=0.1)
opt_right = torch.optim.SGD(right.parameters(), lr=0.05, momentum=0.9)
per_epoch = ChainedScheduler([ConstantLR(opt_left, factor=0.1, total_iters=1), ExponentialLR(opt_left, gamma=0.9),
                              MultiStepLR(opt_left, milestones=[3], gamma=0.5)])
per_batch = CyclicLR(opt_right, base_lr=0.01, max_lr=0.05, step_size_up=5)
for epoch in range(4):
    for x in torch.randn(8, 16, 4):
        opt_left.zero_grad()
        opt_right.zero_grad()
        loss = (right(torch.tanh(left(x))) - x[:, :1].sign()).pow(2).mean()
        loss.backward()
        opt_left.step()
        opt_right.step()
        per_batch.step()
    per_epoch.step()
print(per_epoch.get_last_lr(), per_batch.get_last_lr(), loss.item())
