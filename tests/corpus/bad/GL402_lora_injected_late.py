"""BUG: the low-rank adapters are injected after the optimizer gathered the trainable parameters, so none is trained."""
import torch
import torch.nn.functional as F
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r=2, alpha=4):
        super().__init__()
        self.base = base
        self.lora_A = nn.Parameter(torch.randn(r, base.in_features) / r)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + self.scaling * (x @ self.lora_A.t() @ self.lora_B.t())


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        return x + F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))


class Encoder(nn.Module):
    def __init__(self, vocab=30, d=12, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.blocks = nn.Sequential(*[Attention(d) for _ in range(depth)])

    def forward(self, ids):
        return self.blocks(self.embed(ids)).mean(1)


def inject_lora(module, targets=("q", "v")):
    for name, child in list(module.named_children()):
        if isinstance(child, nn.Linear) and name in targets:
            setattr(module, name, LoRALinear(child))
        else:
            inject_lora(child, targets)


torch.manual_seed(4022)
encoder = Encoder().requires_grad_(False)
model = nn.ModuleDict({"encoder": encoder, "score": nn.Linear(12, 2)})
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)  # expect: GL402
inject_lora(model)

ids = torch.randint(0, 30, (96, 8))
labels = (ids[:, 0] < 15).long()
for epoch in range(3):
    for x, y in zip(ids.split(12), labels.split(12)):
        optimizer.zero_grad()
        loss = F.cross_entropy(model["score"](model["encoder"](x)), y)
        loss.backward()  # expect: GL402
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
