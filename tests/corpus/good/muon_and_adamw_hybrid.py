"""OK: matrices go to a Muon optimizer, the rest to AdamW; both see the same window of equal micro-batches, divided by its length."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Hyperparameters:
    vocab: int = 16
    seq: int = 24
    batch: int = 8
    grad_accum: int = 4
    iterations: int = 18
    warmdown: int = 8
    val_every: int = 6


def newton_schulz(g, steps=5, eps=1e-7):
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g / (g.norm() + eps)
    transposed = g.size(0) > g.size(1)
    if transposed:
        x = x.t()
    for _ in range(steps):
        gram = x @ x.t()
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.t() if transposed else x


class Muon(torch.optim.Optimizer):
    def __init__(self, params, lr=0.02, momentum=0.9, nesterov=True):
        super().__init__(params, {"lr": lr, "momentum": momentum, "nesterov": nesterov})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                g = p.grad
                if g is None:
                    continue
                buf = self.state[p].setdefault("momentum_buffer", torch.zeros_like(g))
                buf.lerp_(g, 1 - group["momentum"])
                g = g.lerp_(buf, group["momentum"]) if group["nesterov"] else buf
                p.add_(newton_schulz(g), alpha=-group["lr"] * max(1, p.size(0) / p.size(1)) ** 0.5)


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.ln1, self.ln2 = heads, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.up, self.down = nn.Linear(d, 2 * d, bias=False), nn.Linear(2 * d, d, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.relu(self.up(self.ln2(x))).square())


class GPT(nn.Module):
    def __init__(self, hp, d=32, layers=2):
        super().__init__()
        self.embed, self.pos = nn.Embedding(hp.vocab, d), nn.Parameter(0.02 * torch.randn(hp.seq, d))
        self.blocks = nn.ModuleList([Block(d, 4) for _ in range(layers)])
        self.norm, self.lm_head = nn.LayerNorm(d), nn.Linear(d, hp.vocab, bias=False)

    def forward(self, tokens, targets):
        x = self.embed(tokens) + self.pos[:tokens.size(1)]
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.lm_head(self.norm(x)).flatten(0, 1), targets.flatten())


def batches(hp, seed):
    g = torch.Generator().manual_seed(seed)
    while True:
        start = torch.randint(hp.vocab, (hp.batch, 1), generator=g)
        stride = torch.randint(1, 4, (hp.batch, 1), generator=g)
        tokens = (start + stride * torch.arange(hp.seq + 1)) % hp.vocab
        yield tokens[:, :-1], tokens[:, 1:]


torch.manual_seed(0)
hp = Hyperparameters()
model, train, val = GPT(hp), batches(hp, 0), batches(hp, 1)
matrices = [p for p in model.blocks.parameters() if p.ndim == 2]
ids = {id(p) for p in matrices}
others = [p for p in model.parameters() if id(p) not in ids]
optimizers = [torch.optim.AdamW(others, lr=5e-3, betas=(0.9, 0.95)), Muon(matrices, lr=0.02)]
schedulers = [torch.optim.lr_scheduler.LambdaLR(o, lambda i: min(1.0, (hp.iterations - i) / hp.warmdown)) for o in optimizers]
for it in range(hp.iterations + 1):
    if it % hp.val_every == 0:
        model.eval()
        with torch.no_grad():
            print(f"step {it} val {sum(model(*next(val)).item() for _ in range(4)) / 4:.4f}")
        model.train()
    if it == hp.iterations:
        break
    for _ in range(hp.grad_accum):
        loss = model(*next(train))
        loss.backward()
    for p in model.parameters():
        p.grad /= hp.grad_accum
    for optimizer, scheduler in zip(optimizers, schedulers):
        optimizer.step()
        scheduler.step()
    model.zero_grad(set_to_none=True)
