"""BUG: the hidden layers live in a plain Python list, so model.parameters() and the optimizer miss them."""
import torch
from torch import nn


class DeepNet(nn.Module):
    def __init__(self, width=16, depth=3):
        super().__init__()
        self.inp = nn.Linear(6, width)
        self.hidden = [nn.Linear(width, width) for _ in range(depth)]
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.relu(self.inp(x))
        for layer in self.hidden:
            x = x + torch.relu(layer(x))
        return self.out(x)


def main():
    torch.manual_seed(210)
    x = torch.randn(128, 6)
    y = x.prod(dim=1, keepdim=True)
    net = DeepNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)  # expect: GL402
    for epoch in range(3):
        for rows in torch.randperm(128).split(16):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(net(x[rows]), y[rows])
            loss.backward()  # expect: GL402
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
