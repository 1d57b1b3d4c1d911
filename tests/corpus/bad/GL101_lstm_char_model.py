"""BUG: train_epoch never clears the gradients, so each Adam step also applies all the earlier ones."""
import torch
import torch.nn as nn

torch.manual_seed(7)

TEXT = "the quick brown fox jumps over the lazy dog. " * 24
CHARS = sorted(set(TEXT))
CODES = torch.tensor([CHARS.index(c) for c in TEXT])
SEQ = 15


class CharLSTM(nn.Module):
    def __init__(self, vocab, width=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.out = nn.Linear(width, vocab)

    def forward(self, tokens):
        hidden, _ = self.lstm(self.embed(tokens))
        return self.out(hidden)


def sequences():
    rows = (len(CODES) - 1) // SEQ
    inputs = CODES[: rows * SEQ].view(rows, SEQ)
    targets = CODES[1 : rows * SEQ + 1].view(rows, SEQ)
    return inputs, targets


def train_epoch(net, opt, inputs, targets, criterion):
    losses = []
    for start in range(0, len(inputs) - 7, 8):
        logits = net(inputs[start : start + 8])
        loss = criterion(logits.flatten(0, 1), targets[start : start + 8].flatten())
        loss.backward()  # expect: GL101
        opt.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


if __name__ == "__main__":
    net = CharLSTM(len(CHARS))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    inputs, targets = sequences()
    for epoch in range(3):
        mean = train_epoch(net, opt, inputs, targets, nn.CrossEntropyLoss())
        print(f"epoch {epoch} loss {mean:.4f}")
