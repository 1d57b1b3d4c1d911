"""OK: only the hypernetwork and its task embeddings are trained; the main network's weights are its outputs, not parameters."""
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class HParams:
    tasks: int = 4
    embed: int = 6
    shapes: list = field(default_factory=lambda: [(16, 3), (16,), (1, 16), (1,)])
    epochs: int = 6
    beta: float = 0.05
    lr: float = 5e-3


class ChunkedHypernet(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.shapes = hp.shapes
        self.task_embeddings = nn.ParameterList([nn.Parameter(torch.randn(hp.embed) * 0.5) for _ in range(hp.tasks)])
        self.trunk = nn.Sequential(nn.Linear(hp.embed, 32), nn.ReLU())
        self.heads = nn.ModuleList([nn.Linear(32, torch.Size(s).numel()) for s in hp.shapes])
        for head in self.heads:
            nn.init.normal_(head.weight, std=0.05)

    def forward(self, task):
        h = self.trunk(self.task_embeddings[task])
        return [head(h).view(shape) for head, shape in zip(self.heads, self.shapes)]


def main_network(x, weights):
    w1, b1, w2, b2 = weights
    return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)


def make_task(k):
    g = torch.Generator().manual_seed(k)
    w = torch.randn(3, 1, generator=g)
    x = torch.randn(96, 3, generator=g)
    return x, torch.tanh(x @ w)


def regulariser(hnet, frozen_outputs):
    terms = []
    for task, targets in frozen_outputs.items():
        terms.extend((w - t).pow(2).mean() for w, t in zip(hnet(task), targets))
    return torch.stack(terms).mean()


def train_task(hnet, task, hp, frozen_outputs):
    x, y = make_task(task)
    theta = [*hnet.trunk.parameters(), *hnet.heads.parameters()]
    theta_opt = torch.optim.Adam(theta, lr=hp.lr)
    embed_opt = torch.optim.Adam([hnet.task_embeddings[task]], lr=2 * hp.lr)
    for earlier in frozen_outputs:
        hnet.task_embeddings[earlier].requires_grad_(False)
    for epoch in range(hp.epochs):
        for xb, yb in zip(x.split(24), y.split(24)):
            hnet.zero_grad()
            task_loss = F.mse_loss(main_network(xb, hnet(task)), yb)
            task_loss.backward()
            if frozen_outputs:
                (hp.beta * regulariser(hnet, frozen_outputs)).backward()
            theta_opt.step()
            embed_opt.step()
    with torch.no_grad():
        frozen_outputs[task] = [w.clone() for w in hnet(task)]
    return task_loss.item()


def main():
    torch.manual_seed(0)
    hp = HParams()
    hnet, frozen_outputs = ChunkedHypernet(hp), {}
    for task in range(hp.tasks):
        loss = train_task(hnet, task, hp, frozen_outputs)
        with torch.no_grad():
            errors = [F.mse_loss(main_network(make_task(t)[0], hnet(t)), make_task(t)[1]).item() for t in range(task + 1)]
        print("task", task, "loss", round(loss, 4), "errors so far", [round(e, 4) for e in errors])


main()
