"""BUG: when the iterator runs dry in mid-window the loop simply leaves, and the partial gradients are thrown away."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 10, batch_first=True)
        self.out = nn.Linear(10, 1)

    def forward(self, window):
        states, _ = self.lstm(window)
        return self.out(states[:, -1])


def windows(series, size):
    w = series.unfold(0, size + 1, 1)
    return TensorDataset(w[:, :-1].unsqueeze(-1), w[:, -1:])


def fit(net, data, accumulate, epochs):
    rprop = torch.optim.Rprop(net.parameters(), lr=1e-3)
    for epoch in range(epochs):
        rprop.zero_grad()
        source = iter(data)
        gathered = 0
        while True:
            try:
                x, y = next(source)
            except StopIteration:
                break
            loss = nn.functional.mse_loss(net(x), y)
            (loss / accumulate).backward()
            gathered += 1
            if gathered == accumulate:  # expect: GL202
                rprop.step()  # expect: GL202
                rprop.zero_grad()
                gathered = 0
        print("epoch", epoch, loss.item())


if __name__ == "__main__":
    torch.manual_seed(71)
    series = torch.sin(torch.arange(200) * 0.3) + 0.05 * torch.randn(200)
    dataset = windows(series, 8)
    loader = DataLoader(dataset, batch_size=12, shuffle=True, drop_last=True)
    fit(Forecaster(), loader, accumulate=5, epochs=3)
