"""OK: utterances are packed until a frame budget; each chunk's summed CTC loss is divided by the window's utterance count, known in advance."""
import argparse
import itertools

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence


def utterance(g, symbols=5):
    length = int(torch.randint(2, 5, (1,), generator=g))
    target = torch.randint(1, symbols, (length,), generator=g)
    repeats = torch.randint(3, 6, (length,), generator=g)
    frames = F.one_hot(target.repeat_interleave(repeats), symbols).float()
    return frames + 0.3 * torch.randn(frames.shape, generator=g), target


def windows(utterances, budget):
    """Groups whose frames stay within the budget; the last may be smaller."""
    group, used = [], 0
    for item in utterances:
        if group and used + len(item[0]) > budget:
            yield group
            group, used = [], 0
        group.append(item)
        used += len(item[0])
    if group:
        yield group


def chunks(items, size):
    iterator = iter(items)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk


class AcousticModel(nn.Module):
    def __init__(self, symbols=5, hidden=24):
        super().__init__()
        self.conv = nn.Conv1d(symbols, hidden, 3, padding=1)
        self.gru = nn.GRU(hidden, hidden, bidirectional=True)
        self.out = nn.Linear(2 * hidden, symbols)

    def forward(self, batch):
        h = F.relu(self.conv(batch.permute(1, 2, 0))).permute(2, 0, 1)
        return self.out(self.gru(h)[0]).log_softmax(-1)


def ctc_sum(model, chunk):
    frames = pad_sequence([f for f, _ in chunk])
    in_lengths = torch.tensor([len(f) for f, _ in chunk])
    targets, out_lengths = torch.cat([t for _, t in chunk]), torch.tensor([len(t) for _, t in chunk])
    return F.ctc_loss(model(frames), targets, in_lengths, out_lengths, reduction="sum", zero_infinity=True)


def greedy(model, frames):
    with torch.no_grad():
        path = model(frames.unsqueeze(1)).squeeze(1).argmax(-1).tolist()
    return [k for k, _ in itertools.groupby(path) if k != 0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--budget", type=int, default=160)
    parser.add_argument("--chunk", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(3)
    corpus, held_out = [utterance(g) for _ in range(96)], [utterance(g) for _ in range(24)]
    model = AcousticModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        order = torch.randperm(len(corpus)).tolist()
        total, updates = 0.0, 0
        for group in windows((corpus[i] for i in order), args.budget):
            optimizer.zero_grad(set_to_none=True)
            for chunk in chunks(group, args.chunk):
                loss = ctc_sum(model, chunk) / len(group)
                loss.backward()
                total += loss.item() * len(group)
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            updates += 1
        exact = sum(greedy(model, f) == t.tolist() for f, t in held_out) / len(held_out)
        print(f"epoch {epoch} updates {updates} loss {total / len(corpus):.3f} exact {exact:.2f}")


if __name__ == "__main__":
    main()
