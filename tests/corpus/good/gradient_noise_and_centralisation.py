"""OK: between backward and step p.grad is centralised, given annealed noise and sign-filtered in place; nothing is used twice."""
import math

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class GradientTransforms:
    """A chain of edits of p.grad, each a method, run by __call__ after the backward."""

    def __init__(self, model, eta=0.01, gamma=0.55, beta=0.9):
        self.params = [p for p in model.parameters() if p.requires_grad]
        self.slow = [torch.zeros_like(p) for p in self.params]
        self.eta, self.gamma, self.beta, self.t = eta, gamma, beta, 0

    def centralise(self):
        for p in self.params:
            if p.grad is not None and p.grad.dim() > 1:
                p.grad.add_(-p.grad.mean(dim=tuple(range(1, p.grad.dim())), keepdim=True))

    def add_noise(self):
        std = math.sqrt(self.eta / (1 + self.t) ** self.gamma)
        for p in self.params:
            if p.grad is not None:
                p.grad.data = p.grad.data + 0.05 * std * torch.randn_like(p.grad)

    def amplify_slow(self, lamb=0.5):
        for p, ema in zip(self.params, self.slow):
            if p.grad is not None:
                ema.mul_(self.beta).add_(p.grad, alpha=1 - self.beta)
                p.grad.add_(ema, alpha=lamb)

    def mask_small(self, quantile=0.05):
        for p in self.params:
            if p.grad is not None and p.grad.numel() > 20:
                p.grad[p.grad.abs() < p.grad.abs().quantile(quantile)] = 0

    @torch.no_grad()
    def __call__(self):
        self.centralise()
        self.add_noise()
        self.amplify_slow()
        self.mask_small()
        self.t += 1


def norms(model):
    return {n: p.grad.detach().norm().item() for n, p in model.named_parameters() if p.grad is not None}


def main():
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    loader = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=70, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.15)
    transforms = GradientTransforms(model)
    for epoch in range(3):
        for step, (xb, yb) in enumerate(loader):
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            before = norms(model) if step % 10 == 0 else None
            transforms()
            if before is not None:
                after = norms(model)
                print(f"  step {step}", {n: f"{before[n]:.3f}->{after[n]:.3f}" for n in before if n.endswith("weight")})
            optimizer.step()
            optimizer.zero_grad()
        with torch.no_grad():
            acc = (model(x[1400:]).argmax(1) == y[1400:]).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
