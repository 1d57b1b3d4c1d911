"""BUG: each epoch restarts the cycle of step flags, so the batches after its last True leak into the next epoch."""
from itertools import chain, cycle, repeat

import torch
import torch.nn.functional as F
from torch import nn


class PKSampler:
    """P classes, K samples of each."""

    def __init__(self, labels, p, k, rounds):
        self.by_class = {int(c): (labels == c).nonzero().squeeze(1) for c in labels.unique()}
        self.p, self.k, self.rounds = p, k, rounds

    def __iter__(self):
        for _ in range(self.rounds):
            chosen = torch.randperm(len(self.by_class))[: self.p].tolist()
            yield torch.cat([self.by_class[c][torch.randperm(len(self.by_class[c]))[: self.k]] for c in chosen])


def step_flags(n):
    return cycle(chain(repeat(False, n - 1), [True]))


def batch_hard(emb, labels, margin=0.5):
    dist = torch.cdist(emb, emb)
    same = labels[:, None] == labels[None, :]
    hardest_pos = dist.masked_fill(~same, 0.0).amax(1)
    hardest_neg = dist.masked_fill(same, float("inf")).amin(1)
    return F.relu(hardest_pos - hardest_neg + margin).mean()


torch.manual_seed(6)
labels = torch.arange(80) % 8
points = torch.randn(8, 10)[labels] + 0.8 * torch.randn(80, 10)
embed = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 6))
optimizer = torch.optim.Adam(embed.parameters(), lr=2e-3)
sampler = PKSampler(labels, p=4, k=3, rounds=11)
N = 3

for epoch in range(4):
    for idx, is_update in zip(sampler, step_flags(N)):
        loss = batch_hard(F.normalize(embed(points[idx]), dim=1), labels[idx]) / N
        loss.backward()
        if is_update:  # expect: GL202
            optimizer.step()  # expect: GL202
            optimizer.zero_grad()
    print("epoch", epoch, "triplet", N * loss.item())
