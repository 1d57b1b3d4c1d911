"""OK: after the head is replaced for the second task, a new optimizer is built from the model as it is then."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Linear(10, 20)
        self.fc = nn.Linear(20, classes)

    def forward(self, x):
        return self.fc(torch.relu(self.stem(x)))


def fit(model, x, y, lr, steps=20):
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(steps):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(0)
x = torch.randn(100, 10)
model = Net(5)
first = fit(model, x, x[:, :5].argmax(1), lr=0.2)
model.fc = nn.Linear(model.fc.in_features, 2)
second = fit(model, x, (x[:, 0] > x[:, 9]).long(), lr=0.1)
print(first, second)
