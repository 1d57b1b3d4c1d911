"""OK: every acquisition round rebuilds the model, its optimizer and its schedule, so nothing is carried over but the labelled pool."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


class Net(nn.Module):
    def __init__(self, p=0.25):
        super().__init__()
        self.fc1, self.fc2, self.drop = nn.Linear(64, 64), nn.Linear(64, 10), nn.Dropout(p)

    def forward(self, x):
        return self.fc2(self.drop(F.relu(self.fc1(x))))


class Strategy:
    def __init__(self, pool, start, seed):
        self.pool, self.g = pool, torch.Generator().manual_seed(seed)
        self.labelled = torch.zeros(len(pool), dtype=torch.bool)
        self.labelled[torch.randperm(len(pool), generator=self.g)[:start]] = True

    def reset(self):
        self.net = Net()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=5e-3)
        self.scheduler = torch.optim.lr_scheduler.MultiStepLR(self.optimizer, [4, 6], 0.3)

    def train(self, epochs):
        self.reset()
        loader = DataLoader(Subset(self.pool, self.labelled.nonzero().flatten().tolist()), batch_size=32, shuffle=True)
        self.net.train()
        for _ in range(epochs):
            for x, y in loader:
                self.optimizer.zero_grad()
                loss = F.cross_entropy(self.net(x), y)
                loss.backward()
                self.optimizer.step()
            self.scheduler.step()
        return loss.item()

    @torch.no_grad()
    def mc_dropout(self, x, n=5):
        self.net.train()
        return torch.stack([self.net(x).softmax(1) for _ in range(n)])

    def query(self, n):
        raise NotImplementedError

    def accuracy(self, x, y):
        self.net.eval()
        with torch.no_grad():
            return (self.net(x).argmax(1) == y).float().mean().item()


class Bald(Strategy):
    def query(self, n):
        candidates = (~self.labelled).nonzero().flatten()
        probs = self.mc_dropout(self.pool.tensors[0][candidates])
        mean = probs.mean(0)
        entropy = -(mean * mean.clamp_min(1e-9).log()).sum(1)
        expected = -(probs * probs.clamp_min(1e-9).log()).sum(2).mean(0)
        return candidates[(entropy - expected).topk(n).indices]


class ExpectedGradientLength(Strategy):
    def query(self, n):
        """Norm of the last layer's gradient under the predicted label, by autograd.grad per sample."""
        self.net.eval()
        candidates = (~self.labelled).nonzero().flatten()[:200]
        scores = []
        for i in candidates.tolist():
            logits = self.net(self.pool.tensors[0][i:i + 1])
            loss = F.cross_entropy(logits, logits.argmax(1))
            scores.append(torch.autograd.grad(loss, self.net.fc2.weight)[0].norm())
        return candidates[torch.stack(scores).topk(n).indices]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--start", type=int, default=64)
    parser.add_argument("--query", type=int, default=32)
    args = parser.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    pool = TensorDataset(x[:1200], y[:1200])
    for cls in (Bald, ExpectedGradientLength):
        strategy = cls(pool, args.start, seed=1)
        for rnd in range(args.rounds):
            loss = strategy.train(epochs=8)
            print(cls.__name__, "round", rnd, "labelled", int(strategy.labelled.sum()), "loss", round(loss, 3), "accuracy", round(strategy.accuracy(x[1200:], y[1200:]), 3))
            strategy.labelled[strategy.query(args.query)] = True


if __name__ == "__main__":
    main()
