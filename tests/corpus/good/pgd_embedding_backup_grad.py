"""OK: K-step PGD on the embedding: clean gradients are backed up, cleared for the inner steps and restored for the last one."""
import torch
from torch import nn

torch.manual_seed(0)
embed, head = nn.Embedding(30, 6), nn.Linear(6, 3)
model = nn.ModuleDict({"embed": embed, "head": head})
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
K, alpha, eps = 3, 0.3, 1.0


def loss_of(ids, label):
    return nn.functional.cross_entropy(head(embed(ids).mean(1)), label)


for step in range(30):
    ids = torch.randint(0, 30, (16, 4))
    label = ids[:, 0] % 3
    loss = loss_of(ids, label)
    loss.backward()
    clean_grads = {n: p.grad.clone() for n, p in model.named_parameters()}
    clean_weight = embed.weight.data.clone()
    for k in range(K):
        g = embed.weight.grad
        moved = embed.weight.data + alpha * g / (g.norm() + 1e-12)
        delta = moved - clean_weight
        embed.weight.data = clean_weight + delta * min(1.0, eps / (delta.norm().item() + 1e-12))
        if k != K - 1:
            model.zero_grad()
        else:
            for n, p in model.named_parameters():
                p.grad = clean_grads[n]
        loss_adv = loss_of(ids, label)
        loss_adv.backward()
    embed.weight.data = clean_weight
    optimizer.step()
    model.zero_grad()
print(loss.item(), loss_adv.item())
