"""OK: first-order MAML: a copy adapts with its own optimizer, and its last gradients are added into the cleared meta model."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
meta_model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
meta_opt = torch.optim.Adam(meta_model.parameters(), lr=5e-3)
tasks = 4

for it in range(12):
    meta_opt.zero_grad()
    for p in meta_model.parameters():
        p.grad = torch.zeros_like(p)
    for task in range(tasks):
        w = torch.randn(3, 1)
        learner = copy.deepcopy(meta_model)
        learner.zero_grad()
        sgd = torch.optim.SGD(learner.parameters(), lr=0.02)
        for step in range(3):
            x = torch.randn(10, 3)
            sgd.zero_grad()
            (learner(x) - x @ w).pow(2).mean().backward()
            sgd.step()
        x = torch.randn(10, 3)
        learner.zero_grad()
        query = (learner(x) - x @ w).pow(2).mean()
        query.backward()
        for p, q in zip(meta_model.parameters(), learner.parameters()):
            p.grad.add_(q.grad, alpha=1 / tasks)
    meta_opt.step()
print("query", query.item())
