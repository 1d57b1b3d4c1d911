"""OK: warm-up per update, an exponential moving average, the best weights kept and a resume from a checkpoint; cleared at each batch."""
import argparse
import copy
import math
import os
import tempfile

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--ema-decay", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


class EMA:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.module.state_dict().values(), model.state_dict().values()):
            if e.dtype.is_floating_point:
                e.mul_(self.decay).add_(p, alpha=1 - self.decay)
            else:
                e.copy_(p)


def build(args, steps):
    model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)

    def lr_lambda(step):
        if step < args.warmup:
            return (step + 1) / args.warmup
        progress = (step - args.warmup) / max(1, steps - args.warmup)
        return 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))

    return model, optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda)


def train_one_epoch(model, ema, loader, optimizer, scheduler, args):
    model.train()
    total, seen, norms = 0.0, 0, []
    for x, y in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(x), y, label_smoothing=0.05)
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), args.clip).item())
        optimizer.step()
        scheduler.step()
        ema.update(model)
        total += loss.item() * len(x)
        seen += len(x)
    return total / seen, max(norms)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def fit(args, train, val, path, until):
    model, optimizer, scheduler = build(args, args.epochs * len(train))
    ema, start, best, best_state = EMA(model, args.ema_decay), 0, 0.0, None
    if os.path.exists(path):
        ckpt = torch.load(path, weights_only=True)
        model.load_state_dict(ckpt["model"])
        ema.module.load_state_dict(ckpt["ema"])
        optimizer.load_state_dict(ckpt["optimizer"])
        scheduler.load_state_dict(ckpt["scheduler"])
        start, best = ckpt["epoch"] + 1, ckpt["best"]
    for epoch in range(start, until):
        loss, norm = train_one_epoch(model, ema, train, optimizer, scheduler, args)
        acc, ema_acc = validate(model, val), validate(ema.module, val)
        if max(acc, ema_acc) > best or best_state is None:
            best = max(acc, ema_acc)
            best_state = copy.deepcopy((model if acc >= ema_acc else ema.module).state_dict())
        torch.save({"model": model.state_dict(), "ema": ema.module.state_dict(), "optimizer": optimizer.state_dict(),
                    "scheduler": scheduler.state_dict(), "epoch": epoch, "best": best}, path)
        print(f"epoch {epoch} loss {loss:.3f} norm {norm:.2f} acc {acc:.3f} ema {ema_acc:.3f} lr {scheduler.get_last_lr()[0]:.5f}")
    model.load_state_dict(best_state)
    return model


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    digits = load_digits()
    data = TensorDataset(torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target))
    train_set, val_set = random_split(data, [1500, len(data) - 1500])
    train = DataLoader(train_set, args.batch_size, shuffle=True)
    val = DataLoader(val_set, 256)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "last.pt")
        fit(args, train, val, path, until=2)
        model = fit(args, train, val, path, until=args.epochs)
    print("final accuracy", validate(model, val))


if __name__ == "__main__":
    main()
