"""BUG: 15 batches in windows of 4: the last 3 are back-propagated, never stepped, and wiped by the next epoch's zero_grad."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train_one_epoch(model, loader, optimizer, accumulation):
    model.train()
    optimizer.zero_grad()
    total = 0.0
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y)
        (loss / accumulation).backward()
        total += loss.item()
        if (step + 1) % accumulation == 0:  # expect: GL202
            optimizer.step()  # expect: GL202
            optimizer.zero_grad()
    return total / len(loader)


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(40)
    x = torch.randn(300, 10)
    y = (x[:, 0] * x[:, 1] > 0).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
    model = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(3):
        loss = train_one_epoch(model, loader, optimizer, accumulation=4)
        print(f"{epoch}: loss {loss:.4f} accuracy {evaluate(model, x, y):.3f}")


if __name__ == "__main__":
    main()
