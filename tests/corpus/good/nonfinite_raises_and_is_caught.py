"""OK: clip_grad_norm_(error_if_nonfinite=True) raises on a bad batch; the handler clears the gradients and drops the batch."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(5, 2)
adam = torch.optim.Adam(layer.parameters(), lr=1e-2)
dropped = []
for i, x in enumerate(torch.randn(30, 8, 5)):
    if i in (4, 17):
        x[2] = torch.nan
    try:
        loss = nn.functional.cross_entropy(layer(x), (x[:, 0] > 0).long())
        loss.backward()
        nn.utils.clip_grad_norm_(layer.parameters(), 1.0, error_if_nonfinite=True)
        adam.step()
    except RuntimeError:
        dropped.append(i)
    finally:
        adam.zero_grad()
print("dropped", dropped, "loss", loss.item())
