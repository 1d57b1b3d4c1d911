"""OK: the optimizer was given every parameter, frozen ones included; those have no gradient and are skipped."""
import torch
from torch import nn


class Probe(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.probe = nn.Linear(16, 4)
        for name, p in self.named_parameters():
            p.requires_grad = name.startswith("probe")

    def forward(self, x):
        return self.probe(self.body(x))


torch.manual_seed(0)
model = Probe(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU()))
opt = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
for it in range(40):
    x = torch.randn(32, 6)
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
print("loss", loss.item(), sum(p.grad is None for p in model.parameters()))
