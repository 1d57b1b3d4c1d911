"""OK: sliced score matching differentiates the score by autograd.grad with create_graph, and only the outer loss has a backward."""
import argparse

import torch
from torch import nn


class ScoreNet(nn.Module):
    def __init__(self, levels, dim=2, width=48):
        super().__init__()
        self.embed = nn.Embedding(levels, width)
        self.inp, self.mid, self.out = nn.Linear(dim, width), nn.Linear(width, width), nn.Linear(width, dim)

    def forward(self, x, level):
        h = nn.functional.softplus(self.inp(x) + self.embed(level))
        return self.out(nn.functional.softplus(self.mid(h)))


def mixture(n):
    centres = torch.tensor([[1.5, 0.0], [-1.5, 0.0], [0.0, 1.5]])
    return centres[torch.randint(3, (n,))] + 0.2 * torch.randn(n, 2)


def ssm_loss(net, x, level, sigma, projections):
    x = (x + sigma[level].unsqueeze(1) * torch.randn_like(x)).repeat_interleave(projections, 0).requires_grad_(True)
    level = level.repeat_interleave(projections, 0)
    v = torch.randn_like(x)
    score = net(x, level)
    grad2 = torch.autograd.grad((score * v).sum(), x, create_graph=True)[0]
    objective = (v * grad2).sum(1) + 0.5 * (score * v).sum(1).pow(2)
    return (objective * sigma[level].pow(2)).mean()


@torch.no_grad()
def annealed_langevin(net, sigmas, n=128, steps=8):
    x = 2 * torch.randn(n, 2)
    for k, sigma in enumerate(sigmas):
        alpha = 0.1 * (sigma / sigmas[-1]) ** 2 * sigmas[-1] ** 2
        level = torch.full((n,), k)
        for _ in range(steps):
            x = x + 0.5 * alpha * net(x, level) + alpha.sqrt() * torch.randn_like(x)
    return x


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--iters", type=int, default=25)
    parser.add_argument("--levels", type=int, default=4)
    parser.add_argument("--projections", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(0)
    sigmas = torch.logspace(0, -1, args.levels)
    net = ScoreNet(args.levels)
    averaged = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.95))
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(args.epochs):
        total = 0.0
        for _ in range(args.iters):
            optimizer.zero_grad()
            loss = ssm_loss(net, mixture(64), torch.randint(args.levels, (64,)), sigmas, args.projections)
            loss.backward()
            optimizer.step()
            averaged.update_parameters(net)
            total += loss.item()
        samples = annealed_langevin(averaged, sigmas)
        print(f"epoch {epoch} loss {total / args.iters:.4f} sample std {samples.std(0).tolist()}")


if __name__ == "__main__":
    main()
