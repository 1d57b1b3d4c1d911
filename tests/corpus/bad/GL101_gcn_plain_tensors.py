"""BUG: the graph network of bare tensors is trained with Adam, and nothing clears the weights' gradients."""
import math

import torch
import torch.nn.functional as F


def make_graph(n, classes, g):
    labels = torch.arange(n) % classes
    same = labels[:, None] == labels[None, :]
    adj = (torch.rand(n, n, generator=g) < torch.where(same, 0.3, 0.03)).float()
    adj = ((adj + adj.t() + torch.eye(n)) > 0).float()
    deg = adj.sum(1).rsqrt()
    feats = F.one_hot(labels, classes).float() + torch.randn(n, classes, generator=g)
    return deg[:, None] * adj * deg[None, :], feats, labels


def glorot(rows, cols, g):
    bound = math.sqrt(6 / (rows + cols))
    w = torch.empty(rows, cols).uniform_(-bound, bound, generator=g)
    return w.requires_grad_()


def gcn(a_hat, x, w0, b0, w1, b1):
    h = F.relu(a_hat @ x @ w0 + b0)
    return a_hat @ h @ w1 + b1


g = torch.Generator().manual_seed(11)
a_hat, x, y = make_graph(60, 3, g)
idx = torch.randperm(60, generator=g)
train_idx, val_idx = idx[:30], idx[30:]

w0, w1 = glorot(3, 16, g), glorot(16, 3, g)
b0, b1 = torch.zeros(16, requires_grad=True), torch.zeros(3, requires_grad=True)
weights = [w0, b0, w1, b1]
adam = torch.optim.Adam([{"params": [w0, w1], "weight_decay": 5e-4}, {"params": [b0, b1]}], lr=0.01)

for epoch in range(1, 21):
    logits = gcn(a_hat, x, *weights)
    loss = F.cross_entropy(logits[train_idx], y[train_idx])
    loss.backward()  # expect: GL101
    adam.step()
    if epoch % 5 == 0:
        with torch.no_grad():
            acc = (gcn(a_hat, x, *weights)[val_idx].argmax(1) == y[val_idx]).float().mean()
        print(f"Epoch {epoch:03d}  loss {loss.item():.3f}  val acc {acc:.3f}")
