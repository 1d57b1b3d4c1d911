"""OK: bf16 weights are never in the optimizer; post-accumulate hooks move each gradient to float32 masters, which are stepped and copied back."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MasterWeights:
    def __init__(self, model):
        self.pairs = []
        for p in model.parameters():
            master = p.detach().float().clone().requires_grad_(True)
            self.pairs.append((p, master))
            p.register_post_accumulate_grad_hook(self._make_hook(master))

    @staticmethod
    def _make_hook(master):
        def hook(p):
            if master.grad is None:
                master.grad = p.grad.float()
            else:
                master.grad.add_(p.grad.float())
            p.grad = None
        return hook

    def parameters(self):
        return [master for _, master in self.pairs]

    @torch.no_grad()
    def copy_back(self):
        for p, master in self.pairs:
            p.copy_(master)


def train_epoch(model, masters, optimizer, loader, accumulate, clip):
    micro, total, norms = 0, 0.0, []
    for x, y in loader:
        loss = F.cross_entropy(model(x.bfloat16()).float(), y)
        (loss / accumulate).backward()
        total += loss.item()
        micro += 1
        if micro == accumulate:
            norms.append(nn.utils.clip_grad_norm_(masters.parameters(), clip).item())
            optimizer.step()
            optimizer.zero_grad()
            masters.copy_back()
            micro = 0
    assert micro == 0
    return total / len(loader), max(norms)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()
    torch.manual_seed(0)
    x = torch.randn(512, 12)
    y = (x @ torch.randn(12, 4)).argmax(1)
    loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True, drop_last=True)
    model = nn.Sequential(nn.Linear(12, 48), nn.GELU(), nn.Linear(48, 4)).bfloat16()
    masters = MasterWeights(model)
    optimizer = torch.optim.AdamW(masters.parameters(), lr=args.lr, weight_decay=0.01)
    for epoch in range(args.epochs):
        loss, norm = train_epoch(model, masters, optimizer, loader, args.accumulate, clip=1.0)
        with torch.no_grad():
            accuracy = (model(x.bfloat16()).argmax(1) == y).float().mean().item()
        drift = max((p.float() - m).abs().max().item() for p, m in masters.pairs)
        print(f"epoch {epoch} loss {loss:.4f} norm {norm:.3f} accuracy {accuracy:.3f} rounding {drift:.5f}")


if __name__ == "__main__":
    main()
