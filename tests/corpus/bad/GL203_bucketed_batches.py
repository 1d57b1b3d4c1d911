"""BUG: buckets hold 4 to 20 examples, yet every bucket's mean loss has the weight 1/3 within its window."""
import torch
from torch import nn


class BucketSampler:
    """Groups sequences of one length together, whatever their number."""

    def __init__(self, lengths):
        self.buckets = {}
        for index, length in enumerate(lengths.tolist()):
            self.buckets.setdefault(length, []).append(index)

    def __iter__(self):
        for length in sorted(self.buckets):
            yield length, torch.tensor(self.buckets[length])


class Summer(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(1, 12, batch_first=True)
        self.out = nn.Linear(12, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[1][0])


def train(epochs=3, window=3):
    torch.manual_seed(95)
    sizes = [20, 4, 10, 5, 18, 7, 4, 20, 6]
    lengths = torch.cat([torch.full((n,), 3 + k) for k, n in enumerate(sizes)])
    values = torch.randn(len(lengths), 12, 1)
    model = Summer()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        opt.zero_grad()
        for count, (length, rows) in enumerate(BucketSampler(lengths), start=1):
            x = values[rows, :length]
            loss = nn.functional.mse_loss(model(x), x.mean(dim=1))
            (loss / window).backward()  # expect: GL203
            if count % window == 0:
                opt.step()
                opt.zero_grad()
        print("epoch", epoch, loss.item())


train()
