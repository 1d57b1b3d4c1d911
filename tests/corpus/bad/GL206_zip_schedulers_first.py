"""BUG: each optimizer's scheduler advances just before the optimizer, so the first learning rate is never used."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import lr_scheduler


class WideAndDeep(nn.Module):
    def __init__(self, fields=3, card=15, dim=4):
        super().__init__()
        self.wide = nn.Embedding(fields * card, 1)
        self.deep_emb = nn.Embedding(fields * card, dim)
        self.deep = nn.Sequential(nn.Linear(fields * dim, 16), nn.ReLU(), nn.Linear(16, 1))
        self.register_buffer("offset", torch.arange(fields) * card)

    def forward(self, x):
        x = x + self.offset
        return (self.wide(x).sum(1) + self.deep(self.deep_emb(x).flatten(1))).squeeze(1)


def clicks(n):
    x = torch.randint(0, 15, (n, 3))
    return x, ((x[:, 0] + x[:, 1]) % 2).float()


def configure(model):
    wide = torch.optim.Adagrad(model.wide.parameters(), lr=0.1)
    deep = torch.optim.AdamW([*model.deep_emb.parameters(), *model.deep.parameters()], lr=1e-2)
    return [wide, deep], [
        lr_scheduler.ExponentialLR(wide, 0.97),
        lr_scheduler.LambdaLR(deep, lambda k: 1.0 / (1.0 + 0.05 * k)),
    ]


torch.manual_seed(66)
model = WideAndDeep()
optimizers, schedulers = configure(model)
for epoch in range(3):
    auc_hits = 0
    for _ in range(7):
        x, y = clicks(32)
        for opt in optimizers:
            opt.zero_grad()
        logit = model(x)
        loss = F.binary_cross_entropy_with_logits(logit, y)
        loss.backward()
        for sched, opt in zip(schedulers, optimizers):
            sched.step()  # expect: GL206
            opt.step()
        auc_hits += ((logit > 0) == y.bool()).sum().item()
    print("epoch", epoch, "accuracy", auc_hits / (7 * 32))
