"""BUG: model.zero_grad() stands between backward() and step()."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader


class ConvAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 6, 3, stride=2, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(6, 1, 4, stride=2, padding=1)

    def forward(self, images):
        return torch.sigmoid(self.up(self.down(images)))


def main():
    torch.manual_seed(9)
    images = torch.tensor(load_digits().images[:512], dtype=torch.float32).unsqueeze(1) / 16
    loader = DataLoader(images, batch_size=64, shuffle=True)
    model = ConvAutoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.BCELoss()

    for epoch in range(1, 4):
        model.train()
        total = 0.0
        for batch in loader:
            loss = criterion(model(batch), batch)
            loss.backward()
            model.zero_grad()  # expect: GL102
            optimizer.step()
            total += loss.item()
        print(f"[{epoch}] reconstruction {total / len(loader):.5f}")


if __name__ == "__main__":
    main()
