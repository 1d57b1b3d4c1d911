"""BUG: the clip by hand measures gradients that still carry the scale."""
import torch
from torch import nn


def clip_by_global_norm(params, max_norm):
    params = [p for p in params if p.grad is not None]
    total = torch.sqrt(sum((p.grad.detach() ** 2).sum() for p in params))
    coef = max_norm / (total + 1e-6)
    if coef < 1:
        for p in params:
            p.grad.mul_(coef)  # expect: GL301
    return total


class Step:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.amp.GradScaler("cpu", init_scale=4096.0)

    def __call__(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(self.model(x), y)
        self.scaler.scale(loss).backward()
        clip_by_global_norm(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()


net = nn.Linear(6, 1)
step = Step(net, torch.optim.SGD(net.parameters(), lr=0.01))
for _ in range(10):
    step(torch.randn(8, 6), torch.randn(8, 1))
