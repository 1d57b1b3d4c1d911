"""OK: ANIL adapts only a functional head with create_graph in the inner loop; the mean outer loss of the task batch has one backward."""
import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn


class Sinusoids:
    def __init__(self, rng):
        self.rng = rng

    def sample(self, shots):
        amplitude, phase = self.rng.uniform(0.5, 3.0), self.rng.uniform(0, 3.14)
        x = torch.empty(2 * shots, 1).uniform_(-4, 4)
        y = amplitude * torch.sin(x + phase)
        return (x[:shots], y[:shots]), (x[shots:], y[shots:])


class Learner(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 1)
        self.log_lr = nn.Parameter(torch.full((2,), -3.0))

    def adapt(self, x, y, steps):
        features = self.body(x)
        weight, bias = self.head.weight, self.head.bias
        for _ in range(steps):
            loss = F.mse_loss(F.linear(features, weight, bias), y)
            g_w, g_b = torch.autograd.grad(loss, (weight, bias), create_graph=self.training)
            weight = weight - self.log_lr[0].exp() * g_w
            bias = bias - self.log_lr[1].exp() * g_b
        return weight, bias

    def query_loss(self, task, steps):
        (xs, ys), (xq, yq) = task
        weight, bias = self.adapt(xs, ys, steps)
        return F.mse_loss(F.linear(self.body(xq), weight, bias), yq)


def evaluate(learner, tasks, shots, steps, n=20):
    learner.eval()
    total = 0.0
    for _ in range(n):
        total += learner.query_loss(tasks.sample(shots), steps).item()
    learner.train()
    return total / n


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--meta-iters", type=int, default=60)
    parser.add_argument("--tasks-per-iter", type=int, default=4)
    parser.add_argument("--shots", type=int, default=10)
    parser.add_argument("--inner-steps", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    tasks = Sinusoids(random.Random(0))
    learner = Learner()
    meta_opt = torch.optim.Adam(learner.parameters(), lr=2e-3)
    meta_sched = torch.optim.lr_scheduler.CosineAnnealingLR(meta_opt, args.meta_iters)
    history = []
    for it in range(args.meta_iters):
        losses = [learner.query_loss(tasks.sample(args.shots), args.inner_steps) for _ in range(args.tasks_per_iter)]
        meta_loss = torch.stack(losses).mean()
        meta_opt.zero_grad()
        meta_loss.backward()
        nn.utils.clip_grad_norm_(learner.parameters(), 10.0)
        meta_opt.step()
        meta_sched.step()
        history.append(meta_loss.item())
        if (it + 1) % 20 == 0:
            print(f"iter {it + 1} train {sum(history[-20:]) / 20:.3f} test {evaluate(learner, tasks, args.shots, args.inner_steps):.3f} "
                  f"inner lr {learner.log_lr.exp().tolist()}")


if __name__ == "__main__":
    main()
