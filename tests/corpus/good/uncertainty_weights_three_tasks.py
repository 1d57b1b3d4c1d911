"""OK: homoscedastic uncertainty weights are parameters of the same optimizer; masked tasks absent from a batch simply add nothing."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass(frozen=True)
class TrainConfig:
    epochs: int = 4
    batch_size: int = 32
    lr: float = 5e-3
    log_var_lr: float = 2e-2
    missing: float = 0.4


class PartialLabels(Dataset):
    def __init__(self, n, missing):
        g = torch.Generator().manual_seed(0)
        self.x = torch.randn(n, 8, generator=g)
        self.targets = {"speed": 3 * self.x[:, 0] + 0.5 * torch.randn(n, generator=g), "kind": (self.x[:, 1] + self.x[:, 2] > 0).long(),
                        "count": torch.poisson((0.5 * self.x[:, 3]).exp(), generator=g)}
        self.masks = {k: torch.rand(n, generator=g) > missing for k in self.targets}

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], {k: v[i] for k, v in self.targets.items()}, {k: m[i] for k, m in self.masks.items()}


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU())
        self.heads = nn.ModuleDict({"speed": nn.Linear(32, 1), "kind": nn.Linear(32, 2), "count": nn.Linear(32, 1)})

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}


class UncertaintyLoss(nn.Module):
    fns = {
        "speed": lambda out, t: F.mse_loss(out.squeeze(1), t),
        "kind": lambda out, t: F.cross_entropy(out, t),
        "count": lambda out, t: F.poisson_nll_loss(out.squeeze(1), t),
    }

    def __init__(self):
        super().__init__()
        self.log_vars = nn.ParameterDict({k: nn.Parameter(torch.zeros(())) for k in self.fns})

    def forward(self, outputs, targets, masks):
        parts, total = {}, 0
        for name, fn in self.fns.items():
            mask = masks[name]
            if not mask.any():
                continue
            parts[name] = fn(outputs[name][mask], targets[name][mask])
            total = total + (-self.log_vars[name]).exp() * parts[name] + self.log_vars[name]
        return total, {k: v.item() for k, v in parts.items()}


def main(cfg):
    torch.manual_seed(0)
    loader = DataLoader(PartialLabels(256, cfg.missing), cfg.batch_size, shuffle=True)
    model, criterion = MultiTask(), UncertaintyLoss()
    optimizer = torch.optim.Adam([{"params": model.parameters()}, {"params": criterion.parameters(), "lr": cfg.log_var_lr}], lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.CyclicLR(optimizer, base_lr=[cfg.lr / 5, cfg.log_var_lr / 5], max_lr=[cfg.lr, cfg.log_var_lr],
                                                  step_size_up=8, cycle_momentum=False)
    for epoch in range(cfg.epochs):
        sums = dict.fromkeys(criterion.fns, 0.0)
        for x, targets, masks in loader:
            loss, parts = criterion(model(x), targets, masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            for k, v in parts.items():
                sums[k] += v / len(loader)
        print(epoch, {k: round(v, 3) for k, v in sums.items()}, {k: round(v.item(), 3) for k, v in criterion.log_vars.items()})


main(TrainConfig())
