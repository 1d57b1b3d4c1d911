"""OK: LOMO style, the hook applies plain SGD by hand as each gradient arrives and drops it at once."""
import torch
from torch import nn


class InPlaceSGD:
    def __init__(self, module, lr):
        self.lr = lr
        self.handles = [p.register_post_accumulate_grad_hook(self._apply) for p in module.parameters()]

    @torch.no_grad()
    def _apply(self, p):
        p.data.add_(p.grad, alpha=-self.lr)
        p.grad = None

    def close(self):
        for handle in self.handles:
            handle.remove()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
sgd = InPlaceSGD(net, lr=0.05)
for step in range(120):
    x = torch.randn(16, 6)
    loss = (net(x) - x[:, :1] * x[:, 1:2]).square().mean()
    loss.backward()
    sgd.lr = 0.05 * (1 - step / 120)
sgd.close()
print("loss", loss.item())
