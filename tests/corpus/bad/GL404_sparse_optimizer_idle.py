"""BUG: the sparse embedding has its own optimizer that is zeroed but never stepped."""
import torch
from torch import nn

torch.manual_seed(230)
bags = torch.randint(0, 200, (192, 5))
clicked = (bags.remainder(7).sum(1) > 15).float()

embedding = nn.EmbeddingBag(200, 10, mode="sum", sparse=True)
tower = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
sparse_opt = torch.optim.SparseAdam(list(embedding.parameters()), lr=1e-2)  # expect: GL404
dense_opt = torch.optim.AdamW(tower.parameters(), lr=1e-2)
optimizers = [sparse_opt, dense_opt]

for epoch in range(2):
    for pick in torch.randperm(192).split(24):
        for optimizer in optimizers:
            optimizer.zero_grad()
        logits = tower(embedding(bags[pick])).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, clicked[pick])
        loss.backward()  # expect: GL404
        dense_opt.step()
    print("epoch", epoch, "loss", loss.item())
