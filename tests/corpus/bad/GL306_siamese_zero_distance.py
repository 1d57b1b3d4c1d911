"""BUG: the distance of two identical items has a NaN gradient (sqrt at zero), and the step applies it."""
import torch
from torch import nn


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, a, b):
        return (self.tower(a) - self.tower(b)).pow(2).sum(dim=1).sqrt()


def contrastive(distance, same, margin=1.0):
    near = same * distance
    far = (1 - same) * torch.relu(margin - distance)
    return (near + far).mean()


def train():
    torch.manual_seed(172)
    items = torch.randn(40, 8)
    net = Siamese()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(2):
        for number in range(6):
            i = torch.randint(0, 40, (16,))
            j = (i + torch.randint(1, 40, (16,))) % 40
            if number == 3:
                j[0] = i[0]
            loss = contrastive(net(items[i], items[j]), (i % 4 == j % 4).float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  # expect: GL306
        print("epoch", epoch, "loss", loss.item())


if __name__ == "__main__":
    train()
