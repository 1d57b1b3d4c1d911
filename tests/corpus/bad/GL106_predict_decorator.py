"""BUG: training calls the no_grad predict(); requires_grad_() on the loss only hides that nothing is connected."""
import torch
import torch.nn as nn
from torch.nn.functional import mse_loss


class MatrixFactorization(nn.Module):
    def __init__(self, users, items, k=6):
        super().__init__()
        self.u = nn.Embedding(users, k)
        self.i = nn.Embedding(items, k)
        self.bias = nn.Parameter(torch.zeros(()))

    def score(self, user, item):
        return (self.u(user) * self.i(item)).sum(-1) + self.bias

    @torch.no_grad()
    def predict(self, user, item):
        return self.score(user, item).clamp(1, 5)


def ratings(n=200):
    user = torch.randint(0, 20, (n,))
    item = torch.randint(0, 30, (n,))
    return user, item, 1 + (user + item).remainder(5).float()


def train_one_epoch(model, optimizer, data, batch_size=25):
    perm = torch.randperm(len(data[0]))
    history = []
    for idx in perm.split(batch_size):
        user, item, rating = (column[idx] for column in data)
        optimizer.zero_grad()
        loss = mse_loss(model.predict(user, item), rating)
        loss.requires_grad_(True)
        loss.backward()
        optimizer.step()  # expect: GL106
        history.append(loss.item())
    return sum(history) / len(history)


torch.manual_seed(83)
data = ratings()
mf = MatrixFactorization(20, 30)
sgd = torch.optim.SGD(mf.parameters(), lr=0.5)
for epoch in range(3):
    print("epoch", epoch, "rmse", train_one_epoch(mf, sgd, data) ** 0.5)
