"""OK: DP-SGD by hand: one backward per sample into a cleared .grad, clipped, summed aside, noised and assigned before the step."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
params = list(model.parameters())
optimizer = torch.optim.SGD(params, lr=0.5)
max_norm, sigma = 1.0, 0.5
X = torch.randn(96, 4)
Y = (X[:, 0] > 0).long()

for epoch in range(2):
    for idx in torch.randperm(96).split(16):
        summed = [torch.zeros_like(p) for p in params]
        for i in idx:
            model.zero_grad()
            loss = nn.functional.cross_entropy(model(X[i:i + 1]), Y[i:i + 1])
            loss.backward()
            nn.utils.clip_grad_norm_(params, max_norm)
            for s, p in zip(summed, params):
                s.add_(p.grad)
        for s, p in zip(summed, params):
            p.grad = (s + sigma * max_norm * torch.randn_like(s)) / len(idx)
        optimizer.step()
print("loss", nn.functional.cross_entropy(model(X), Y).item())
