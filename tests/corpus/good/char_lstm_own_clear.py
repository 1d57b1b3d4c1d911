"""OK: truncated back-propagation through time with a clearing function of its own."""
import torch
import torch.nn as nn

torch.manual_seed(2)
TEXT = ("the books of a gradient are kept by adding, and nobody clears them for you. " * 12)
vocab = sorted(set(TEXT))
stoi = {c: i for i, c in enumerate(vocab)}
ids = torch.tensor([stoi[c] for c in TEXT])
BATCH, CHUNK = 8, 16
stream = ids[: len(ids) // BATCH * BATCH].view(BATCH, -1)


class CharLSTM(nn.Module):
    def __init__(self, n, d=24):
        super().__init__()
        self.emb = nn.Embedding(n, d)
        self.rnn = nn.LSTM(d, 32, batch_first=True)
        self.out = nn.Linear(32, n)

    def forward(self, x, h):
        y, h = self.rnn(self.emb(x), h)
        return self.out(y), h


def detach(h):
    return tuple(t.detach() for t in h)


def clear(model):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.zero_()


def perplexity(loss):
    return torch.exp(loss).item()


model = CharLSTM(len(vocab))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
loss_history = []
epoch_loss = 0
for epoch in range(3):
    hidden = (torch.zeros(1, BATCH, 32), torch.zeros(1, BATCH, 32))
    epoch_loss = 0
    for start in range(0, stream.size(1) - CHUNK - 1, CHUNK):
        x = stream[:, start:start + CHUNK]
        y = stream[:, start + 1:start + CHUNK + 1]
        hidden = detach(hidden)
        logits, hidden = model(x, hidden)
        loss = criterion(logits.reshape(-1, len(vocab)), y.reshape(-1))
        clear(model)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        epoch_loss = epoch_loss + float(loss)
    print("epoch", epoch, "loss", float(epoch_loss), "ppl", perplexity(loss.detach()))
print("done")
