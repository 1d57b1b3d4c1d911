"""BUG: the gradients are clipped and applied once more after the step."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(5, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
max_norm = 1.0
for it in range(15):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(torch.randn(8, 5)), torch.randint(0, 2, (8,)))
    loss.backward()
    optimizer.step()
    if max_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()  # expect: GL105
