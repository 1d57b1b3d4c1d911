"""BUG: weight_norm replaces the weights by new parameters after the optimizer was built from the old ones."""
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm
from torch.utils.data import DataLoader, TensorDataset


class TemporalNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 6, 3, padding=2, dilation=2)
        self.second = nn.Conv1d(6, 6, 3, padding=4, dilation=4)
        self.out = nn.Linear(6, 1)

    def add_weight_norm(self):
        weight_norm(self.first)
        weight_norm(self.second)

    def forward(self, x):
        h = torch.relu(self.first(x))
        h = torch.relu(self.second(h))
        return self.out(h.mean(dim=2))


def main():
    torch.manual_seed(222)
    x = torch.randn(128, 1, 20)
    loader = DataLoader(TensorDataset(x, x.std(dim=2)), batch_size=16, shuffle=True)
    net = TemporalNet()
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)  # expect: GL402|GL403
    net.add_weight_norm()
    for epoch in range(2):
        for series, spread in loader:
            net.zero_grad()
            loss = nn.functional.mse_loss(net(series), spread)
            loss.backward()  # expect: GL402|GL403
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
