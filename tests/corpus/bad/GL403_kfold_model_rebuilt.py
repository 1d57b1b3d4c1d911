"""BUG: each fold gets a new network, but the optimizer still holds the first fold's parameters."""
import torch
from torch import nn


def make_net():
    return nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 2))


def cross_validate(x, y, folds=3, epochs=2):
    net = make_net()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)  # expect: GL403
    scores = []
    for held_out in range(folds):
        fold = torch.arange(len(x)) % folds
        train_x, train_y = x[fold != held_out], y[fold != held_out]
        test_x, test_y = x[fold == held_out], y[fold == held_out]
        for _ in range(epochs):
            for rows in torch.randperm(len(train_x)).split(20):
                opt.zero_grad()
                loss = nn.functional.cross_entropy(net(train_x[rows]), train_y[rows])
                loss.backward()  # expect: GL403
                opt.step()
        with torch.no_grad():
            scores.append((net(test_x).argmax(1) == test_y).float().mean().item())
        net = make_net()
    return scores


torch.manual_seed(220)
x = torch.randn(180, 6)
print("accuracies", cross_validate(x, (x[:, 0] > x[:, 1]).long()))
