"""BUG: when the window is full the optimizer steps first and the norm is clipped afterwards."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(164)
x, y = load_digits(return_X_y=True)
data = TensorDataset(torch.tensor(x[:600], dtype=torch.float32).view(-1, 8, 8) / 16, torch.tensor(y[:600]))


class RowReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(8, 24, batch_first=True)
        self.fc = nn.Linear(24, 10)

    def forward(self, image):
        return self.fc(self.rnn(image)[0][:, -1])


def finish_window(model, optimizer):
    optimizer.step()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)  # expect: GL304
    optimizer.zero_grad()
    return norm.item()


def main(window=5):
    model = RowReader()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(2):
        norms = []
        for i, (images, digits) in enumerate(DataLoader(data, batch_size=30, shuffle=True), start=1):
            loss = nn.functional.cross_entropy(model(images), digits)
            (loss / window).backward()
            if i % window == 0:
                norms.append(finish_window(model, optimizer))
        print(epoch, loss.item(), "largest norm", max(norms))


main()
