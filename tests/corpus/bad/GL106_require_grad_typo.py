"""BUG: unfreezing sets `p.require_grad`, a new attribute, so the backbone's optimizer steps without any gradient."""
import torch
import torch.nn.functional as F
from torch import nn


class Backbone(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv1d(4, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten())


def freeze(module):
    for p in module.parameters():
        p.requires_grad = False


def unfreeze(module):
    for p in module.parameters():
        p.require_grad = True


def dna(n, g):
    seq = torch.randint(0, 4, (n, 30), generator=g)
    label = (seq == 2).sum(1).gt(7).long()
    return F.one_hot(seq, 4).float().transpose(1, 2), label


def main(unfreeze_at=1, epochs=3):
    torch.manual_seed(73)
    g = torch.Generator().manual_seed(74)
    backbone, head = Backbone(), nn.Linear(8, 2)
    backbone_opt = torch.optim.AdamW(backbone.parameters(), lr=1e-4)
    head_opt = torch.optim.AdamW(head.parameters(), lr=1e-2)
    freeze(backbone)
    for epoch in range(epochs):
        if epoch == unfreeze_at:
            unfreeze(backbone)
        for _ in range(6):
            x, y = dna(20, g)
            loss = F.cross_entropy(head(backbone(x)), y)
            head_opt.zero_grad()
            backbone_opt.zero_grad()
            loss.backward()
            head_opt.step()
            if epoch >= unfreeze_at:
                backbone_opt.step()  # expect: GL106
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
