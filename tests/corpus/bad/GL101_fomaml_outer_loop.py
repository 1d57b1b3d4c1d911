"""BUG: the meta-optimizer steps after every meta-batch and the initialisation's gradients are never cleared."""
import argparse

import torch
from torch import nn
from torch.func import functional_call


def sample_sine(n, g):
    amp = 0.1 + 4.9 * torch.rand(1, generator=g)
    phase = 3.14 * torch.rand(1, generator=g)
    x = 10 * torch.rand(2 * n, 1, generator=g) - 5
    y = amp * torch.sin(x + phase)
    return (x[:n], y[:n]), (x[n:], y[n:])


class MAML:
    def __init__(self, net, args):
        self.net = net
        self.args = args
        self.meta_optim = torch.optim.Adam(net.parameters(), lr=args.meta_lr)
        self.criterion = nn.MSELoss()

    def adapt(self, support):
        x, y = support
        fast = dict(self.net.named_parameters())
        for _ in range(self.args.inner_steps):
            loss = self.criterion(functional_call(self.net, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()))
            fast = {k: w - self.args.inner_lr * g for (k, w), g in zip(fast.items(), grads)}
        return fast

    def meta_update(self, tasks):
        outer = []
        for support, (qx, qy) in tasks:
            outer.append(self.criterion(functional_call(self.net, self.adapt(support), (qx,)), qy))
        meta_loss = torch.stack(outer).mean()
        meta_loss.backward()  # expect: GL101
        self.meta_optim.step()
        return meta_loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inner-lr", type=float, default=0.01)
    parser.add_argument("--meta-lr", type=float, default=1e-3)
    parser.add_argument("--inner-steps", type=int, default=2)
    parser.add_argument("--meta-batch", type=int, default=4)
    args = parser.parse_args([])

    torch.manual_seed(31)
    g = torch.Generator().manual_seed(32)
    learner = MAML(nn.Sequential(nn.Linear(1, 20), nn.ReLU(), nn.Linear(20, 1)), args)
    for epoch in range(2):
        history = [learner.meta_update([sample_sine(10, g) for _ in range(args.meta_batch)]) for _ in range(8)]
        print("epoch", epoch, "query loss", sum(history) / len(history))


if __name__ == "__main__":
    main()
