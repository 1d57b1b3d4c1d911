"""BUG: a batch of 40 is split into 12, 12, 12 and 4 rows, and each piece's mean counts one quarter."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(86)
source = load_digits()
X = torch.tensor(source.data[:640], dtype=torch.float32) / 16
T = torch.tensor(source.target[:640])

mlp = nn.Sequential(nn.Linear(64, 24), nn.ReLU(), nn.Linear(24, 10))
sgd = torch.optim.SGD(mlp.parameters(), lr=0.1, momentum=0.5)


def accumulate(rows, micro=12):
    pieces = rows.split(micro)
    value = 0.0
    for piece in pieces:
        loss = nn.functional.cross_entropy(mlp(X[piece]), T[piece]) / len(pieces)  # expect: GL203
        loss.backward()  # expect: GL203
        value += loss.item()
    return value


for epoch in range(2):
    for rows in torch.randperm(640).split(40):
        sgd.zero_grad()
        value = accumulate(rows)
        sgd.step()
    print("epoch", epoch, value)
