"""OK: the base weights are frozen, only the low-rank adapters learn; merging them afterwards changes weights without gradients."""
import torch
from torch import nn


class LoRA(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, base.in_features) * 0.1)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.a.t() @ self.b.t()

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.b @ self.a
        return self.base


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
for i, layer in enumerate(model):
    if isinstance(layer, nn.Linear):
        model[i] = LoRA(layer)
opt = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-2)
for x in torch.randn(40, 24, 8):
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    loss.backward()
    opt.step()
    opt.zero_grad()
for i, layer in enumerate(model):
    if isinstance(layer, LoRA):
        model[i] = layer.merge()
print("loss", loss.item(), "merged", nn.functional.cross_entropy(model(x), x[:, :3].argmax(1)).item())
