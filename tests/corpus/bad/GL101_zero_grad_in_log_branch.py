"""BUG: zero_grad() slipped into the logging branch and runs only once in ten steps."""
import torch
from torch import nn


class SkipGram(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.center = nn.Embedding(vocab, dim)
        self.context = nn.Embedding(vocab, dim)

    def forward(self, center, context, negatives):
        c = self.center(center)
        positive = (c * self.context(context)).sum(-1)
        negative = torch.einsum("bd,bkd->bk", c, self.context(negatives))
        logsig = nn.functional.logsigmoid
        return -(logsig(positive) + logsig(-negative).sum(-1)).mean()


def sample_pairs(corpus, size):
    position = torch.randint(1, len(corpus) - 1, (size,))
    shift = torch.randint(0, 2, (size,)) * 2 - 1
    return corpus[position], corpus[position + shift], torch.randint(0, 30, (size, 4))


def train():
    torch.manual_seed(13)
    corpus = torch.randint(0, 30, (600,)).sort().values
    model = SkipGram(30, 12)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for step in range(60):
        loss = model(*sample_pairs(corpus, 32))
        loss.backward()  # expect: GL101
        optimizer.step()
        if step % 10 == 9:
            print(f"step {step + 1:3d} loss {loss.item():.4f}")
            optimizer.zero_grad()
    return model


print("norm", train().center.weight.norm().item())
