"""BUG: every site has 7 batches and the step comes at each third; the seventh gradient is wiped at the next site."""
import torch
from torch import nn


class Site:
    def __init__(self, name, shift, n=42):
        g = torch.Generator().manual_seed(int(shift * 100))
        self.name = name
        self.x = torch.randn(n, 7, generator=g) + shift
        self.y = (self.x.sum(1) > 7 * shift).float()

    def minibatches(self, size):
        for start in range(0, len(self.x), size):
            yield self.x[start : start + size], self.y[start : start + size]


class CyclicWeightTransfer:
    """One model visits hospital after hospital."""

    def __init__(self, model, accumulation, lr):
        self.model = model
        self.accumulation = accumulation
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.bce = nn.BCEWithLogitsLoss()

    def visit(self, site):
        self.model.zero_grad()
        for number, (x, y) in enumerate(site.minibatches(6), 1):
            loss = self.bce(self.model(x).flatten(), y)
            loss.div(self.accumulation).backward()
            if not number % self.accumulation:  # expect: GL202
                self.optimizer.step()  # expect: GL202
                self.model.zero_grad()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(300)
    sites = [Site("north", 0.0), Site("south", 0.5), Site("east", 1.0)]
    learner = CyclicWeightTransfer(nn.Sequential(nn.Linear(7, 12), nn.ELU(), nn.Linear(12, 1)), 3, lr=0.1)
    for cycle in range(3):
        print("cycle", cycle, {s.name: round(learner.visit(s), 3) for s in sites})
