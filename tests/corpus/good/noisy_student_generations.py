"""OK: each generation trains a new, larger student with a new optimizer on labels of the previous, now frozen, teacher."""
import argparse
import gc

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, TensorDataset


def make_model(width, dropout):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, 10))


def soft_cross_entropy(logits, target):
    return -(target * logits.log_softmax(1)).sum(1).mean()


@torch.no_grad()
def pseudo_label(teacher, x, threshold):
    teacher.eval()
    probs = teacher(x).softmax(1)
    keep = probs.max(1).values > threshold
    return x[keep], probs[keep]


@torch.no_grad()
def accuracy(model, x, y):
    was_training = model.training
    model.eval()
    result = (model(x).argmax(1) == y).float().mean().item()
    model.train(was_training)
    return result


def train(model, dataset, epochs, lr, noise):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=epochs * -(-len(dataset) // 64), power=1.0)
    loader = DataLoader(dataset, batch_size=64, shuffle=True)
    model.train()
    for epoch in range(epochs):
        for x, target in loader:
            for p in model.parameters():
                p.grad = None
            loss = soft_cross_entropy(model(x + noise * torch.randn_like(x)), target)
            loss.backward()
            optimizer.step()
            scheduler.step()
    return loss.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--generations", type=int, default=3)
    ap.add_argument("--labelled", type=int, default=100)
    ap.add_argument("--threshold", type=float, default=0.6)
    args = ap.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    labelled = TensorDataset(x[:args.labelled], F.one_hot(y[:args.labelled], 10).float())
    unlabelled, x_test, y_test = x[args.labelled:1300], x[1300:], y[1300:]
    teacher = make_model(32, 0.0)
    train(teacher, labelled, 40, 1e-2, 0.0)
    print("teacher", accuracy(teacher, x_test, y_test))
    for generation in range(args.generations):
        chosen, soft = pseudo_label(teacher, unlabelled, args.threshold)
        student = make_model(32 * (generation + 2), 0.2)
        loss = train(student, ConcatDataset([labelled, TensorDataset(chosen, soft)]), 5, 1e-2, 0.1)
        print(f"generation {generation} pseudo-labels {len(chosen)} loss {loss:.3f} accuracy {accuracy(student, x_test, y_test):.3f}")
        teacher = student
        gc.collect()


if __name__ == "__main__":
    main()
