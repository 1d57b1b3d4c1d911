"""OK: two optimizers share the layers: the matrices to one, the vectors to the other."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
hidden = [p for p in model.parameters() if p.ndim >= 2]
rest = [p for p in model.parameters() if p.ndim < 2]
muon = torch.optim.SGD(hidden, lr=0.02, momentum=0.95, nesterov=True)
adam = torch.optim.AdamW(rest, lr=3e-4)
optimizers = [muon, adam]
schedulers = [torch.optim.lr_scheduler.LambdaLR(o, lambda s: max(0.1, 1 - s / 40)) for o in optimizers]
accum = 2
for step in range(20):
    for k in range(accum):
        x = torch.randn(16, 8)
        loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1)) / accum
        loss.backward()
    for o, s in zip(optimizers, schedulers):
        o.step()
        s.step()
    model.zero_grad(set_to_none=True)
print(loss.item())
