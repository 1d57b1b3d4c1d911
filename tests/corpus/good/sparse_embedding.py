"""OK: sparse embedding gradients are cleared by p.grad = None and stepped by SparseAdam and SGD, one sparse tensor per backward."""
import torch
from torch import nn

torch.manual_seed(0)
users, items = nn.Embedding(40, 5, sparse=True), nn.EmbeddingBag(60, 5, mode="mean", sparse=True)
bias = nn.Parameter(torch.zeros(1))
sparse_opt = torch.optim.SparseAdam([users.weight, items.weight], lr=5e-2)
dense_opt = torch.optim.SGD([bias], lr=0.1)
for epoch in range(4):
    for batch in range(10):
        u = torch.randint(0, 40, (16,))
        bag = torch.randint(0, 60, (16, 4))
        rating = ((u % 2) == (bag[:, 0] % 2)).float()
        for p in (users.weight, items.weight, bias):
            p.grad = None
        score = (users(u) * items(bag)).sum(1) + bias
        loss = nn.functional.binary_cross_entropy_with_logits(score, rating)
        loss.backward()
        sparse_opt.step()
        dense_opt.step()
print("loss", loss.item(), users.weight.grad.is_sparse)
