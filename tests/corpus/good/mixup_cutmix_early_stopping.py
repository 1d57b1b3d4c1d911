"""OK: mixup's two weighted losses are added before one backward; early stopping breaks between complete updates."""
import dataclasses

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclasses.dataclass
class Config:
    epochs: int = 12
    batch_size: int = 96
    lr: float = 0.08
    alpha: float = 0.4
    patience: int = 2
    min_delta: float = 2e-3
    seed: int = 3


class EarlyStopping:
    def __init__(self, patience, min_delta):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.counter, self.state = float("inf"), 0, None

    def __call__(self, value, model):
        if value < self.best - self.min_delta:
            self.best, self.counter = value, 0
            self.state = {k: v.detach().clone() for k, v in model.state_dict().items()}
        else:
            self.counter += 1
        return self.counter >= self.patience


def mixup(x, y, alpha, rng):
    lam = float(rng.beta(alpha, alpha))
    perm = torch.randperm(len(x))
    return lam * x + (1 - lam) * x[perm], y, y[perm], lam


def cutmix(x, y, alpha, rng):
    lam = float(rng.beta(alpha, alpha))
    perm = torch.randperm(len(x))
    side = int(8 * (1 - lam) ** 0.5)
    top, left = rng.integers(0, 8 - side + 1, 2)
    x = x.clone()
    x[:, :, top:top + side, left:left + side] = x[perm][:, :, top:top + side, left:left + side]
    return x, y, y[perm], 1 - side * side / 64


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU())
        self.classifier = nn.Linear(16 * 16, 10)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def main(cfg):
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    digits = load_digits()
    x = torch.tensor(digits.images / 16, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(digits.target)
    train_loader = DataLoader(TensorDataset(x[:1400], y[:1400]), cfg.batch_size, shuffle=True)
    x_val, y_val = x[1400:], y[1400:]
    model = ConvNet()
    opt = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg.epochs)
    stopper = EarlyStopping(cfg.patience, cfg.min_delta)
    for epoch in range(cfg.epochs):
        model.train()
        for xb, yb in train_loader:
            mixed, ya, yb2, lam = (mixup if rng.random() < 0.5 else cutmix)(xb, yb, cfg.alpha, rng)
            out = model(mixed)
            loss = lam * F.cross_entropy(out, ya) + (1 - lam) * F.cross_entropy(out, yb2)
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
        model.eval()
        with torch.no_grad():
            logits = model(x_val)
            val = F.cross_entropy(logits, y_val).item()
        print(f"{epoch}: val {val:.3f} acc {(logits.argmax(1) == y_val).float().mean():.3f}")
        if stopper(val, model):
            print("early stop at", epoch)
            break
    model.load_state_dict(stopper.state)


main(Config())
