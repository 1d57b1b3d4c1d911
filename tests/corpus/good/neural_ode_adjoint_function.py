"""OK: a custom Function integrates the adjoint inside its backward with autograd.grad; the training loop is plain."""
import torch
import torch.nn.functional as F
from torch import nn


class Dynamics(nn.Module):
    def __init__(self, dim=3, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, width), nn.Tanh(), nn.Linear(width, dim))

    def forward(self, h):
        return self.net(h)


class OdeAdjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h, func, steps, dt, *params):
        with torch.no_grad():
            for _ in range(steps):
                h = h + dt * func(h)
        ctx.func, ctx.steps, ctx.dt = func, steps, dt
        ctx.save_for_backward(h, *params)
        return h.clone()

    @staticmethod
    def backward(ctx, adjoint):
        h, *params = ctx.saved_tensors
        func, dt = ctx.func, ctx.dt
        sums = [torch.zeros_like(p) for p in params]
        for _ in range(ctx.steps):
            with torch.enable_grad():
                point = h.detach().requires_grad_(True)
                velocity = func(point)
                grads = torch.autograd.grad(velocity, [point, *params], adjoint)
            with torch.no_grad():
                h = h - dt * velocity
                adjoint = adjoint + dt * grads[0]
                for total, g in zip(sums, grads[1:]):
                    total += dt * g
        return (adjoint, None, None, None, *sums)


class OdeBlock(nn.Module):
    def __init__(self, func, steps=8):
        super().__init__()
        self.func, self.steps = func, steps

    def forward(self, h):
        return OdeAdjoint.apply(h, self.func, self.steps, 1.0 / self.steps, *self.func.parameters())


class RunningAverageMeter:
    def __init__(self, momentum=0.9):
        self.momentum, self.avg = momentum, None

    def update(self, value):
        self.avg = value if self.avg is None else self.momentum * self.avg + (1 - self.momentum) * value


def spirals(n):
    label = torch.randint(0, 2, (n,))
    r = 0.3 + torch.rand(n)
    angle = 4 * r + 3.1416 * label
    return torch.stack([r * angle.cos(), r * angle.sin(), torch.zeros(n)], 1), label


def main():
    torch.manual_seed(0)
    model = nn.Sequential(OdeBlock(Dynamics()), nn.Linear(3, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    meter = RunningAverageMeter()
    x_test, y_test = spirals(256)
    for epoch in range(3):
        for _ in range(20):
            x, y = spirals(64)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            meter.update(loss.item())
        with torch.no_grad():
            accuracy = (model(x_test).argmax(1) == y_test).float().mean().item()
        print(f"epoch {epoch} loss {meter.avg:.3f} accuracy {accuracy:.3f}")


main()
