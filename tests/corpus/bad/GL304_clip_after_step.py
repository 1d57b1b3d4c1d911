"""BUG: the gradients are clipped after the step that should have used the clipped values."""
import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self, symbols=12, hidden=20):
        super().__init__()
        self.embed = nn.Embedding(symbols, hidden)
        self.encoder = nn.GRU(hidden, hidden, batch_first=True)
        self.decoder = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, symbols)

    def forward(self, source, target_in):
        _, state = self.encoder(self.embed(source))
        states, _ = self.decoder(self.embed(target_in), state)
        return self.out(states)


def train_iters(model, optimizer, criterion, n_iters, clip):
    for iteration in range(1, n_iters + 1):
        source = torch.randint(1, 12, (16, 6))
        target = source.flip(1)
        target_in = torch.cat([torch.zeros(16, 1, dtype=torch.long), target[:, :-1]], dim=1)
        optimizer.zero_grad()
        loss = criterion(model(source, target_in).transpose(1, 2), target)
        loss.backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), clip)  # expect: GL304
        if iteration % 10 == 0:
            print(f"{iteration}: {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(160)
    model = Seq2Seq()
    train_iters(model, torch.optim.Adam(model.parameters(), lr=5e-3), nn.CrossEntropyLoss(), 30, clip=0.25)
