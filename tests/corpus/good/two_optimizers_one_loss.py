"""OK: matrices and vectors of one model are updated by two optimizers from the same backward; neither steps the other's parameters."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.TransformerEncoderLayer(d_model=12, nhead=3, dim_feedforward=24, dropout=0.0, batch_first=True)
matrices = [p for p in model.parameters() if p.ndim >= 2]
vectors = [p for p in model.parameters() if p.ndim < 2]
opts = (torch.optim.SGD(matrices, lr=0.02, momentum=0.9), torch.optim.AdamW(vectors, lr=1e-3))
warmups = [torch.optim.lr_scheduler.LinearLR(o, start_factor=0.1, total_iters=10) for o in opts]

for step in range(30):
    x = torch.randn(4, 7, 12)
    loss = (model(x) - x.roll(1, dims=1)).square().mean()
    for o in opts:
        o.zero_grad()
    loss.backward()
    for o, s in zip(opts, warmups):
        o.step()
        s.step()
print("loss", loss.item())
