"""OK: semi-supervised training on one dense graph, masks for the splits, patience on validation and two parameter groups with their own decay."""
import argparse
import time

import torch
import torch.nn.functional as F
from torch import nn


def stochastic_block_model(n, classes, p_in, p_out, features, g):
    labels = torch.arange(n) % classes
    same = labels[:, None] == labels[None, :]
    upper = torch.triu((torch.rand(n, n, generator=g) < torch.where(same, p_in, p_out)).float(), 1)
    x = torch.randn(n, features, generator=g) + 0.7 * F.one_hot(labels, features)
    return x, upper + upper.t(), labels


def normalise(adjacency):
    a = adjacency + torch.eye(len(adjacency))
    d = a.sum(1).rsqrt()
    return d[:, None] * a * d[None, :]


def drop_edges(adjacency, p):
    mask = torch.triu((torch.rand_like(adjacency) > p).float(), 1)
    return normalise(adjacency * (mask + mask.t()))


class GraphConvolution(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(i, o)))
        self.bias = nn.Parameter(torch.zeros(o))

    def forward(self, x, adj):
        return adj @ (x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, features, hidden, classes, dropout):
        super().__init__()
        self.gc1, self.gc2, self.dropout = GraphConvolution(features, hidden), GraphConvolution(hidden, classes), dropout

    def forward(self, x, adj):
        h = F.dropout(F.relu(self.gc1(x, adj)), self.dropout, self.training)
        return F.log_softmax(self.gc2(h, adj), dim=1)


def accuracy(output, labels):
    return (output.argmax(1) == labels).float().mean().item()


parser = argparse.ArgumentParser()
parser.add_argument("--no-cuda", action="store_true", default=False)
parser.add_argument("--epochs", type=int, default=60)
parser.add_argument("--lr", type=float, default=0.02)
parser.add_argument("--hidden", type=int, default=16)
parser.add_argument("--patience", type=int, default=15)
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()

torch.manual_seed(42)
x, adjacency, labels = stochastic_block_model(150, 3, 0.12, 0.02, 8, torch.Generator().manual_seed(0))
idx_train, idx_val, idx_test = torch.arange(0, 30), torch.arange(30, 80), torch.arange(80, 150)
adj = normalise(adjacency)
model = GCN(8, args.hidden, 3, 0.5)
optimizer = torch.optim.Adam([{"params": model.gc1.parameters(), "weight_decay": 5e-3}, {"params": model.gc2.parameters(), "weight_decay": 0.0}], lr=args.lr)


def train(epoch):
    t = time.time()
    model.train()
    optimizer.zero_grad()
    output = model(x, drop_edges(adjacency, 0.2))
    loss_train = F.nll_loss(output[idx_train], labels[idx_train])
    loss_train.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        output = model(x, adj)
        loss_val = F.nll_loss(output[idx_val], labels[idx_val]).item()
    if epoch % 10 == 0:
        print(f"Epoch {epoch + 1:04d} loss_train {loss_train.item():.4f} loss_val {loss_val:.4f} acc_val {accuracy(output[idx_val], labels[idx_val]):.4f} time {time.time() - t >= 0}")
    return loss_val


best, bad, best_state = float("inf"), 0, None
for epoch in range(args.epochs):
    value = train(epoch)
    if value < best:
        best, bad, best_state = value, 0, {k: v.clone() for k, v in model.state_dict().items()}
    else:
        bad += 1
    if bad == args.patience:
        break
model.load_state_dict(best_state)
model.eval()
print("test accuracy", accuracy(model(x, adj)[idx_test], labels[idx_test]))
