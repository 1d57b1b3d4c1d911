"""OK: each micro-batch is differentiated into a cleared model and summed in buffers of its own, which become .grad at the window's end."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
buffers = [torch.zeros_like(p, dtype=torch.float64) for p in model.parameters()]
window = 4
xs = torch.randn(16, 10, 6)

for epoch in range(2):
    for i, x in enumerate(xs):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
        loss.backward()
        for b, p in zip(buffers, model.parameters()):
            b += p.grad
        if (i + 1) % window == 0:
            for b, p in zip(buffers, model.parameters()):
                p.grad = (b / window).to(p.dtype)
                b.zero_()
            optimizer.step()
print("loss", loss.item())
