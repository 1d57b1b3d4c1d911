"""OK: an ensemble lives as stacked leaf tensors used through vmap and functional_call; the optimizer holds the leaves, the skeleton none."""
import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, stack_module_state, vmap
from torch.utils.data import DataLoader, TensorDataset


def make_member():
    return nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))


class StackedEnsemble:
    def __init__(self, size, lr):
        members = [make_member() for _ in range(size)]
        stacked, self.buffers = stack_module_state(members)
        self.skeleton = copy.deepcopy(members[0]).to("meta")
        self.params = {k: v.detach().clone().requires_grad_(True) for k, v in stacked.items()}
        self.optimizer = torch.optim.AdamW(self.params.values(), lr=lr)
        self.size = size

    def _single(self, params, buffers, x):
        return functional_call(self.skeleton, (params, buffers), (x,))

    def forward(self, x, shared=True):
        return vmap(self._single, in_dims=(0, 0, None if shared else 0))(self.params, self.buffers, x)

    def fit_batch(self, x, y):
        """Each member sees its own bootstrap; members are independent, so the sum keeps every gradient its own."""
        index = torch.randint(len(x), (self.size, len(x)))
        prediction = self.forward(x[index], shared=False)
        losses = (prediction - y[index]).pow(2).mean(dim=(1, 2))
        self.optimizer.zero_grad()
        losses.sum().backward()
        grads = torch.stack([p.grad.flatten(1).norm(dim=1) for p in self.params.values()]).norm(dim=0)
        scale = (1.0 / (grads + 1e-6)).clamp(max=1.0)
        for p in self.params.values():
            p.grad.mul_(scale.view(-1, *[1] * (p.dim() - 1)))
        self.optimizer.step()
        return losses.detach()

    @torch.no_grad()
    def predict(self, x):
        out = self.forward(x)
        return out.mean(0), out.std(0)


class HandMomentum:
    """The same model trained with torch.func.grad, no .grad and no optimizer at all."""

    def __init__(self, lr=0.05, beta=0.9):
        self.module = make_member()
        self.params = {k: v.detach().clone() for k, v in self.module.named_parameters()}
        self.velocity = {k: torch.zeros_like(v) for k, v in self.params.items()}
        self.lr, self.beta = lr, beta
        self.value_and_grad = torch.func.grad_and_value(self.loss)

    def loss(self, params, x, y):
        return F.mse_loss(functional_call(self.module, params, (x,)), y)

    def fit_batch(self, x, y):
        grads, loss = self.value_and_grad(self.params, x, y)
        for k, g in grads.items():
            self.velocity[k] = self.beta * self.velocity[k] + g
            self.params[k] = self.params[k] - self.lr * self.velocity[k]
        return loss


torch.manual_seed(0)
x = torch.rand(256, 4) * 4 - 2
y = torch.sin(2 * x[:, :1]) + x[:, 1:2].abs() + 0.1 * torch.randn(256, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
ensemble, single = StackedEnsemble(5, 1e-2), HandMomentum()
for epoch in range(5):
    total, alone = torch.zeros(5), 0.0
    for xb, yb in loader:
        total += ensemble.fit_batch(xb, yb)
        alone += single.fit_batch(xb, yb).item()
    mean, spread = ensemble.predict(x)
    print(f"epoch {epoch} members {[round(v, 3) for v in (total / len(loader)).tolist()]} ensemble {F.mse_loss(mean, y):.3f} "
          f"spread {spread.mean():.3f} single {alone / len(loader):.3f}")
