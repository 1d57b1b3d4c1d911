"""OK: per-sample gradients come from torch.func, are clipped and averaged, and assigned to .grad; backward() is never called."""
import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
opt = torch.optim.AdamW(model.parameters(), lr=5e-3)


def sample_loss(params, x, y):
    logits = functional_call(model, params, (x.unsqueeze(0),))
    return nn.functional.cross_entropy(logits, y.unsqueeze(0))


per_sample = vmap(grad(sample_loss), in_dims=(None, 0, 0))
x = torch.randn(120, 6)
y = x[:, :3].argmax(1)
for epoch in range(4):
    for rows in torch.randperm(120).split(40):
        detached = {k: v.detach() for k, v in model.named_parameters()}
        grads = per_sample(detached, x[rows], y[rows])
        norm = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()]).norm(dim=0)
        factor = (1.0 / (norm + 1e-6)).clamp(max=1.0)
        for name, p in model.named_parameters():
            p.grad = torch.einsum("n,n...->...", factor, grads[name]) / len(rows)
        opt.step()
print("accuracy", (model(x).argmax(1) == y).float().mean().item())
