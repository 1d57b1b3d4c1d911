"""OK: a population in one loop; losers load the winner's model and optimizer state and perturb its learning rate between generations."""
import copy
import random
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn, optim


@dataclass
class Member:
    name: str
    lr: float
    dropout: float
    model: nn.Module = field(init=False)
    optimizer: optim.Optimizer = field(init=False)
    score: float = 0.0
    lineage: list = field(default_factory=list)

    def __post_init__(self):
        self.model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(self.dropout), nn.Linear(32, 10))
        self.optimizer = optim.SGD(self.model.parameters(), lr=self.lr, momentum=0.9)

    def step(self, x, y):
        self.model.train()
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self, x, y):
        self.model.eval()
        self.score = (self.model(x).argmax(1) == y).float().mean().item()
        return self.score

    def exploit(self, other):
        self.model.load_state_dict(copy.deepcopy(other.model.state_dict()))
        self.optimizer.load_state_dict(copy.deepcopy(other.optimizer.state_dict()))
        self.lr, self.dropout = other.lr, other.dropout
        self.lineage.append(other.name)

    def explore(self, rng):
        self.lr *= rng.choice([0.8, 1.25])
        self.dropout = min(0.5, max(0.0, self.dropout + rng.choice([-0.05, 0.05])))
        for group in self.optimizer.param_groups:
            group["lr"] = self.lr
        self.model[2].p = self.dropout


def mutate_weights(member, rng, sigma=0.01):
    """A gradient-free trial: keep Gaussian noise on the output layer only if the score does not fall."""
    layer = member.model[3]
    backup = layer.weight.detach().clone()
    with torch.no_grad():
        layer.weight.add_(sigma * torch.randn_like(layer.weight))
    return backup


def main(generations=4, steps=12, batch=64):
    torch.manual_seed(0)
    rng = random.Random(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    x_train, y_train, x_val, y_val = x[:1300], y[:1300], x[1300:], y[1300:]
    population = [Member(f"m{i}", lr, 0.1) for i, lr in enumerate([0.3, 0.1, 0.02, 0.003])]
    for generation in range(generations):
        for _ in range(steps):
            index = torch.randint(len(x_train), (batch,))
            for member in population:
                member.step(x_train[index], y_train[index])
        for member in population:
            before = member.evaluate(x_val, y_val)
            backup = mutate_weights(member, rng)
            if member.evaluate(x_val, y_val) < before:
                with torch.no_grad():
                    member.model[3].weight.copy_(backup)
                member.score = before
        population.sort(key=lambda m: m.score, reverse=True)
        print(f"generation {generation}", [(m.name, round(m.lr, 4), round(m.score, 3)) for m in population])
        population[-1].exploit(population[0])
        population[-1].explore(rng)


main()
