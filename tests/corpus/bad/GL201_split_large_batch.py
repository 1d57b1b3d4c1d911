"""BUG: a large batch is split into four pieces whose mean losses are added instead of averaged."""
import torch
from sklearn.datasets import load_digits
from torch import nn


def main():
    torch.manual_seed(18)
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x[:1024], dtype=torch.float32) / 16
    y = torch.tensor(y[:1024])
    classifier = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 10))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(classifier.parameters(), lr=0.05)

    for epoch in range(2):
        permutation = torch.randperm(len(x))
        for batch in permutation.split(128):
            optimizer.zero_grad()
            for piece in batch.split(32):
                criterion(classifier(x[piece]), y[piece]).backward()  # expect: GL201
            optimizer.step()

    classifier.eval()
    with torch.no_grad():
        print("accuracy", (classifier(x).argmax(1) == y).float().mean().item())


if __name__ == "__main__":
    main()
