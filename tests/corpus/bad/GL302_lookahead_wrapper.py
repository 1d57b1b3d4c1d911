"""BUG: the loss is scaled, but the Lookahead wrapper steps its inner optimizer itself, past the scaler."""
import torch
import torch.nn.functional as F
from torch import nn


class Lookahead:
    """k steps forward, one step back: slow weights trail the fast ones."""

    def __init__(self, base, k=5, alpha=0.5):
        self.base, self.k, self.alpha = base, k, alpha
        self.counter = 0
        self.slow = [[p.detach().clone() for p in g["params"]] for g in base.param_groups]

    def zero_grad(self):
        self.base.zero_grad()

    @torch.no_grad()
    def _sync(self):
        for slow_group, group in zip(self.slow, self.base.param_groups):
            for slow, fast in zip(slow_group, group["params"]):
                slow += self.alpha * (fast - slow)
                fast.copy_(slow)

    def step(self):
        self.base.step()  # expect: GL302
        self.counter += 1
        if self.counter % self.k == 0:
            self._sync()


class ResBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.f = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, x):
        return x + self.f(x)


def spirals(n):
    label = torch.arange(n) % 2
    r = torch.rand(n)
    angle = 5 * r + 3.14159 * label
    return torch.stack([r * angle.cos(), r * angle.sin()], 1) + 0.02 * torch.randn(n, 2), label


def main():
    torch.manual_seed(2002)
    model = nn.Sequential(nn.Linear(2, 24), ResBlock(24), ResBlock(24), nn.Linear(24, 2))
    scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
    opt = Lookahead(torch.optim.RAdam(model.parameters(), lr=2e-3))
    x, y = spirals(160)
    for epoch in range(3):
        for idx in torch.randperm(160).split(20):
            with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
                loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            scaler.scale(loss).backward()
            opt.step()  # expect: GL302
        print("epoch", epoch, "loss", loss.item())


if __name__ == "__main__":
    main()
