"""OK: points are cloned and pruned after the step and the clear; new parameters replace the old ones in the optimizer with their state."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Splats:
    def __init__(self, n):
        self.tensors = {
            "xy": nn.Parameter(torch.rand(n, 2) * 2 - 1),
            "log_scale": nn.Parameter(torch.full((n, 1), -1.5)),
            "weight": nn.Parameter(torch.randn(n, 1) * 0.1),
        }
        lrs = {"xy": 1e-2, "log_scale": 1e-2, "weight": 5e-2}
        self.optimizer = torch.optim.Adam([{"params": [p], "lr": lrs[k], "name": k} for k, p in self.tensors.items()], eps=1e-15)
        self.reset_statistics()

    def reset_statistics(self):
        self.grad_sum, self.count = torch.zeros(len(self.tensors["xy"])), 0

    def render(self, points):
        d = (points[:, None, :] - self.tensors["xy"][None]).pow(2).sum(-1)
        return (torch.exp(-0.5 * d / self.tensors["log_scale"].exp().pow(2).t()) * self.tensors["weight"].t()).sum(1)

    @torch.no_grad()
    def observe(self):
        self.grad_sum += self.tensors["xy"].grad.norm(dim=1)
        self.count += 1

    def _replace(self, change_tensor, change_state):
        for group in self.optimizer.param_groups:
            old = group["params"][0]
            state = self.optimizer.state.pop(old)
            new = nn.Parameter(change_tensor(group["name"], old.detach()))
            for key in ("exp_avg", "exp_avg_sq"):
                state[key] = change_state(state[key])
            group["params"][0] = new
            self.optimizer.state[new] = state
            self.tensors[group["name"]] = new

    def densify(self, threshold):
        index = (self.grad_sum / max(1, self.count) > threshold).nonzero().flatten()[:8]

        def clone(name, old):
            extra = old[index]
            if name == "xy":
                extra = extra + 0.05 * torch.randn_like(extra)
            if name == "weight":
                extra = 0.5 * extra
            return torch.cat([old, extra])

        self._replace(clone, lambda s: torch.cat([s, torch.zeros_like(s[index])]))
        self.reset_statistics()
        return len(index)

    def prune(self, minimum):
        keep = self.tensors["weight"].detach().abs().squeeze(1) > minimum
        self._replace(lambda name, old: old[keep].clone(), lambda s: s[keep].clone())
        self.reset_statistics()
        return int((~keep).sum())


def target(points):
    return torch.exp(-8 * (points - 0.4).pow(2).sum(1)) - 0.7 * torch.exp(-20 * (points + 0.3).pow(2).sum(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=150)
    parser.add_argument("--densify-every", type=int, default=30)
    parser.add_argument("--prune-every", type=int, default=60)
    parser.add_argument("--until", type=int, default=120)
    args = parser.parse_args()
    torch.manual_seed(0)
    splats = Splats(12)
    for iteration in range(1, args.iterations + 1):
        points = torch.rand(128, 2) * 2 - 1
        loss = F.mse_loss(splats.render(points), target(points))
        loss.backward()
        splats.observe()
        splats.optimizer.step()
        splats.optimizer.zero_grad(set_to_none=True)
        if iteration <= args.until:
            if iteration % args.densify_every == 0:
                print("iteration", iteration, "cloned", splats.densify(1e-4), "loss", round(loss.item(), 5))
            if iteration % args.prune_every == 0:
                print("iteration", iteration, "pruned", splats.prune(0.02), "left", len(splats.tensors["xy"]))
    print("final loss", loss.item(), "splats", len(splats.tensors["xy"]))


if __name__ == "__main__":
    main()
