"""BUG: `batch_idx % grad_accum == 0` also holds for batch 0, so a window of one is stepped first."""
import argparse

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grad-accum", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=2e-3)
    return parser.parse_args()


def train(args, model, loader, optimizer, scaler):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            output = model(data)
            loss = nn.functional.cross_entropy(output, target) / args.grad_accum
        scaler.scale(loss).backward()
        if batch_idx % args.grad_accum == 0:  # expect: GL204
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            scaler.step(optimizer)  # expect: GL204
            scaler.update()
            optimizer.zero_grad()
    return loss.item() * args.grad_accum


def main():
    args = parse()
    torch.manual_seed(4)
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x[:640], dtype=torch.float32).view(-1, 1, 8, 8) / 16
    loader = DataLoader(TensorDataset(x, torch.tensor(y[:640])), batch_size=40, shuffle=True)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    for epoch in range(args.epochs):
        print(epoch, train(args, model, loader, optimizer, scaler))


if __name__ == "__main__":
    main()
