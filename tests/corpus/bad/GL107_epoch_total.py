"""BUG: the epoch total adds up the loss tensors themselves and keeps every graph alive."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def get_loader():
    data, target = load_digits(return_X_y=True)
    x = torch.tensor(data[:800], dtype=torch.float32).view(-1, 1, 8, 8) / 16
    return DataLoader(TensorDataset(x, torch.tensor(target[:800])), batch_size=40, shuffle=True)


def main():
    torch.manual_seed(15)
    loader = get_loader()
    net = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(216, 10))
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(2):
        epoch_loss, correct, seen = 0.0, 0, 0
        for x, y in loader:
            opt.zero_grad()
            scores = net(x)
            loss = nn.functional.cross_entropy(scores, y)
            loss.backward()
            opt.step()
            epoch_loss += loss * len(x)  # expect: GL107
            correct += (scores.argmax(1) == y).sum().item()
            seen += len(x)
        print(f"epoch {epoch} loss {epoch_loss / seen:.4f} accuracy {correct / seen:.3f}")


if __name__ == "__main__":
    main()
