"""BUG: token-budget batches hold from a few to 12 sentences, yet their means enter the window with equal weight."""
import torch
import torch.nn.functional as F
from torch import nn


class BagClassifier(nn.Module):
    def __init__(self, vocab=40, dim=12, classes=3):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.out = nn.Linear(dim, classes)

    def forward(self, tokens):
        return self.out(torch.relu(self.bag(tokens)))


def corpus(n, seed):
    g = torch.Generator().manual_seed(seed)
    lengths = torch.randint(4, 17, (n,), generator=g)
    return [torch.randint(0, 40, (int(k),), generator=g) for k in lengths]


def pack(sentences, max_tokens):
    """Same-length sentences go together, at most max_tokens per batch."""
    by_length = {}
    for s in sentences:
        by_length.setdefault(len(s), []).append(s)
    for length, group in sorted(by_length.items()):
        per_batch = max_tokens // length
        for k in range(0, len(group), per_batch):
            chunk = torch.stack(group[k : k + per_batch])
            yield chunk, chunk[:, 0] % 3


def grouped(items, n):
    return [items[k : k + n] for k in range(0, len(items), n)]


def main():
    torch.manual_seed(21)
    batches = list(pack(corpus(150, 22), max_tokens=48))
    order = torch.randperm(len(batches), generator=torch.Generator().manual_seed(23)).tolist()
    batches = [batches[k] for k in order]
    model = BagClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(2):
        seen = 0.0
        for window in grouped(batches, 4):
            optimizer.zero_grad()
            for tokens, label in window:
                loss = F.cross_entropy(model(tokens), label) / len(window)  # expect: GL203
                loss.backward()  # expect: GL203
                seen += loss.item()
            optimizer.step()
        print("epoch", epoch, "loss", seen / len(grouped(batches, 4)))


if __name__ == "__main__":
    main()
