"""OK: TRADES finds its perturbation with autograd.grad on the input in eval mode, clears, then adds natural and robust losses."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description="TRADES adversarial training")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--batch-size", type=int, default=100)
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--epsilon", type=float, default=0.1)
parser.add_argument("--num-steps", type=int, default=4)
parser.add_argument("--step-size", type=float, default=0.04)
parser.add_argument("--beta", type=float, default=3.0)
args = parser.parse_args()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.bn, self.fc2 = nn.Linear(64, 64), nn.BatchNorm1d(64), nn.Linear(64, 10)

    def forward(self, x):
        return self.fc2(F.relu(self.bn(self.fc1(x))))


def trades_loss(model, x_natural, y, optimizer):
    criterion_kl = nn.KLDivLoss(reduction="sum")
    model.eval()
    x_adv = x_natural.detach() + 0.001 * torch.randn_like(x_natural)
    for _ in range(args.num_steps):
        x_adv.requires_grad_()
        with torch.enable_grad():
            loss_kl = criterion_kl(F.log_softmax(model(x_adv), 1), F.softmax(model(x_natural), 1))
        grad = torch.autograd.grad(loss_kl, [x_adv])[0]
        x_adv = x_adv.detach() + args.step_size * grad.sign()
        x_adv = torch.min(torch.max(x_adv, x_natural - args.epsilon), x_natural + args.epsilon).clamp(0, 1)
    model.train()
    x_adv = x_adv.clone().detach()
    optimizer.zero_grad()
    logits = model(x_natural)
    loss_natural = F.cross_entropy(logits, y)
    loss_robust = criterion_kl(F.log_softmax(model(x_adv), 1), F.softmax(logits, 1)) / len(x_natural)
    return loss_natural + args.beta * loss_robust


def train(model, loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        loss = trades_loss(model, data, target, optimizer)
        loss.backward()
        optimizer.step()
        if batch_idx % 5 == 0:
            print(f"Train Epoch: {epoch} [{batch_idx * len(data)}/{len(loader.dataset)}]\tLoss: {loss.item():.6f}")


def evaluate(model, x, y):
    model.eval()
    probe = x.clone().requires_grad_()
    gradient = torch.autograd.grad(F.cross_entropy(model(probe), y), probe)[0]
    with torch.no_grad():
        clean = (model(x).argmax(1) == y).float().mean().item()
        robust = (model((x + args.epsilon * gradient.sign()).clamp(0, 1)).argmax(1) == y).float().mean().item()
    return clean, robust


def adjust_learning_rate(optimizer, epoch):
    lr = args.lr * (0.1 if epoch >= 3 else 1.0)
    for group in optimizer.param_groups:
        group["lr"] = lr


def main():
    torch.manual_seed(1)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    loader = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=args.batch_size, shuffle=True)
    model = Net()
    optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=2e-4)
    for epoch in range(1, args.epochs + 1):
        adjust_learning_rate(optimizer, epoch)
        train(model, loader, optimizer, epoch)
        print("clean and robust accuracy", evaluate(model, x[1400:], y[1400:]))


if __name__ == "__main__":
    main()
