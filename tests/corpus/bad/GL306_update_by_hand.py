"""BUG: one row holds NaN, and an update written by hand applies its gradients."""
import torch
from torch.nn.functional import softplus

torch.manual_seed(0)
features = torch.randn(240, 5)
target = features.sum(dim=1).abs()
features[87, 2] = float("nan")
weights = torch.full((5,), 0.1, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)


def predict(rows):
    return softplus(rows @ weights + bias)


def sgd(parameters, rate):
    with torch.no_grad():
        for p in parameters:
            p -= rate * p.grad  # expect: GL306
            p.grad = None


for epoch in range(2):
    for start in range(0, len(features), 24):
        rows = slice(start, start + 24)
        loss = (predict(features[rows]) - target[rows]).pow(2).mean()
        loss.backward()
        sgd([weights, bias], rate=0.05)
    print(epoch, loss.item())
