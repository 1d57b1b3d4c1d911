"""BUG: parameters are sorted into decay and no_decay, but only the decay group reaches the optimizer."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.mlp = nn.Linear(dim, dim)

    def forward(self, x):
        h = self.norm(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + torch.relu(self.mlp(x))


class SetClassifier(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.lift = nn.Linear(2, dim)
        self.block = Block(dim)
        self.head = nn.Linear(dim, 2)

    def forward(self, points):
        return self.head(self.block(self.lift(points)).mean(dim=1))


def configure_optimizer(model, lr, weight_decay):
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        (decay if p.dim() >= 2 else no_decay).append(p)
    groups = [{"params": decay, "weight_decay": weight_decay}]
    return torch.optim.AdamW(groups, lr=lr)  # expect: GL402


def main():
    torch.manual_seed(216)
    points = torch.randn(120, 7, 2)
    inside = (points.norm(dim=2).amax(dim=1) < 2.2).long()
    loader = DataLoader(TensorDataset(points, inside), batch_size=20, shuffle=True)
    model = SetClassifier()
    optimizer = configure_optimizer(model, lr=2e-3, weight_decay=0.05)
    for epoch in range(2):
        for x, y in loader:
            model.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()  # expect: GL402
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
