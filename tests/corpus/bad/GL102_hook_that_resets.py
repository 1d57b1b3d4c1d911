"""BUG: a hook after backward clears what the step should use."""
import torch
from torch import nn


def on_after_backward(hooks, **kw):
    for h in hooks:
        h(**kw)


def log_norm(model, **_):
    return sum(float(p.grad.norm()) for p in model.parameters() if p.grad is not None)


def reset(optimizer, **_):
    optimizer.zero_grad()  # expect: GL102


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
hooks = [log_norm, reset]
for i in range(30):
    x = torch.randn(10, 4)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(-1))
    loss.backward()
    on_after_backward(hooks, model=model, optimizer=optimizer)
    optimizer.step()
print(loss.item())
