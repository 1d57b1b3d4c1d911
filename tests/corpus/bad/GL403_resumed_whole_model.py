"""BUG: resuming unpickles a whole new model after the optimizer was built on the model it replaces."""
import argparse
import io

import torch
from torch import nn


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))

    def forward(self, t, y):
        return self.net(y**3)


def odeint(func, y0, ts):
    ys = [y0]
    for t0, t1 in zip(ts, ts[1:]):
        k1 = func(t0, ys[-1])
        k2 = func(t1, ys[-1] + (t1 - t0) * k1)
        ys.append(ys[-1] + (t1 - t0) * (k1 + k2) / 2)
    return torch.stack(ys)


def spiral(ts, y0):
    a = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    return odeint(lambda t, y: y**3 @ a, y0, ts)


def checkpoint_of(model):
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    return buffer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--niters", type=int, default=12)
    parser.add_argument("--resume", action="store_true", default=True)
    args = parser.parse_args([])

    torch.manual_seed(4032)
    ts = torch.linspace(0, 0.5, 8)
    stored = checkpoint_of(ODEFunc())

    func = ODEFunc()
    optimizer = torch.optim.RMSprop(func.parameters(), lr=1e-3)  # expect: GL403
    if args.resume:
        func = torch.load(stored, weights_only=False)

    for epoch in range(2):
        for itr in range(args.niters):
            y0 = torch.rand(16, 2) + 0.5
            optimizer.zero_grad()
            loss = (odeint(func, y0, ts) - spiral(ts, y0)).abs().mean()
            loss.backward()  # expect: GL403
            optimizer.step()
        print(f"Epoch {epoch} | Total Loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
