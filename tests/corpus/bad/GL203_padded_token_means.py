"""BUG: each micro-batch's mean over its own non-padding tokens gets the same weight, however many tokens it has."""
import torch
from torch import nn

PAD = 0
ACCUMULATE = 4


class Tagger(nn.Module):
    def __init__(self, words=40, tags=6):
        super().__init__()
        self.embed = nn.Embedding(words, 12, padding_idx=PAD)
        self.rnn = nn.GRU(12, 16, batch_first=True, bidirectional=True)
        self.tag = nn.Linear(32, tags)

    def forward(self, words):
        return self.tag(self.rnn(self.embed(words))[0])


def make_batch(length, size=6):
    words = torch.randint(1, 40, (size, 20))
    words[:, length:] = PAD
    tags = torch.where(words == PAD, -100, words % 6)
    return words, tags


def main():
    torch.manual_seed(81)
    batches = [make_batch(n) for n in (3, 19, 5, 17, 20, 2, 12, 4, 18, 3, 16, 6)]
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=-100)
    for epoch in range(2):
        for i, (words, tags) in enumerate(batches):
            loss = criterion(model(words).flatten(0, 1), tags.flatten())
            loss = loss / ACCUMULATE  # expect: GL203
            loss.backward()  # expect: GL203
            if (i + 1) % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch} loss {loss.item() * ACCUMULATE:.4f}")


if __name__ == "__main__":
    main()
