"""OK: the key encoder moves by an exponential average without gradients; the queue stores detached keys only."""
import copy

import torch
import torch.nn.functional as F
from torch import nn


class MoCo(nn.Module):
    def __init__(self, dim=8, size=64):
        super().__init__()
        self.encoder_q = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, dim))
        self.encoder_k = copy.deepcopy(self.encoder_q)
        for p in self.encoder_k.parameters():
            p.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(size, dim), dim=1))
        self.ptr = 0

    @torch.no_grad()
    def momentum_update(self, m=0.99):
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.data = k.data * m + q.data * (1 - m)

    def forward(self, xq, xk):
        q = F.normalize(self.encoder_q(xq), dim=1)
        with torch.no_grad():
            self.momentum_update()
            k = F.normalize(self.encoder_k(xk), dim=1)
        logits = torch.cat([(q * k).sum(1, keepdim=True), q @ self.queue.clone().t()], 1) / 0.2
        self.queue[self.ptr:self.ptr + k.size(0)] = k
        self.ptr = (self.ptr + k.size(0)) % self.queue.size(0)
        return logits, torch.zeros(len(q), dtype=torch.long)


torch.manual_seed(0)
moco = MoCo()
optimizer = torch.optim.SGD(moco.parameters(), lr=0.05, momentum=0.9)  # frozen ones never get a gradient
for step in range(30):
    x = torch.randn(16, 10)
    logits, labels = moco(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
