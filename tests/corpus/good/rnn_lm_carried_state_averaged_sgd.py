"""OK: the hidden state is detached between segments, activation penalties join the loss, and the optimizer switches to ASGD with a fresh start."""
import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn


def markov_corpus(n, vocab, seed):
    g = torch.Generator().manual_seed(seed)
    table = torch.softmax(3 * torch.randn(vocab, vocab, generator=torch.Generator().manual_seed(9)), 1)
    tokens, state = [], 0
    for _ in range(n):
        state = int(torch.multinomial(table[state], 1, generator=g))
        tokens.append(state)
    return torch.tensor(tokens)


def batchify(data, bsz):
    usable = data.numel() // bsz * bsz
    return data[:usable].view(bsz, -1).t().contiguous()


def get_batch(source, i, bptt):
    length = min(bptt, len(source) - 1 - i)
    return source[i:i + length], source[i + 1:i + 1 + length].reshape(-1)


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


class RNNModel(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.encoder, self.rnn = nn.Embedding(vocab, hidden), nn.LSTM(hidden, hidden, 1)
        self.decoder = nn.Linear(hidden, vocab)
        self.decoder.weight = self.encoder.weight

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return weight.new_zeros(1, bsz, self.rnn.hidden_size), weight.new_zeros(1, bsz, self.rnn.hidden_size)

    def forward(self, tokens, hidden):
        raw, hidden = self.rnn(self.encoder(tokens), hidden)
        dropped = F.dropout(raw, 0.1, self.training)
        return self.decoder(dropped), hidden, raw, dropped


def evaluate(model, source, args):
    model.eval()
    total, hidden = 0.0, model.init_hidden(source.size(1))
    with torch.no_grad():
        for i in range(0, len(source) - 1, args.bptt):
            data, targets = get_batch(source, i, args.bptt)
            output, hidden, _, _ = model(data, hidden)
            total += len(data) * F.cross_entropy(output.view(-1, args.vocab), targets).item()
    return total / (len(source) - 1)


def train(model, source, optimizer, args):
    model.train()
    hidden, total, batches, i = model.init_hidden(source.size(1)), 0.0, 0, 0
    while i < len(source) - 2:
        jitter = args.bptt if torch.rand(()) < 0.9 else args.bptt // 2
        lr2 = optimizer.param_groups[0]["lr"]
        data, targets = get_batch(source, i, jitter)
        optimizer.param_groups[0]["lr"] = lr2 * len(data) / args.bptt
        hidden = repackage_hidden(hidden)
        optimizer.zero_grad()
        output, hidden, raw, dropped = model(data, hidden)
        raw_loss = F.cross_entropy(output.view(-1, args.vocab), targets)
        loss = raw_loss + 0.01 * dropped.pow(2).mean()
        if len(raw) > 1:
            loss = loss + 0.01 * (raw[1:] - raw[:-1]).pow(2).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        optimizer.param_groups[0]["lr"] = lr2
        total += raw_loss.item()
        batches += 1
        i += len(data)
    return total / batches


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=10)
    parser.add_argument("--bptt", type=int, default=12)
    parser.add_argument("--clip", type=float, default=0.5)
    parser.add_argument("--lr", type=float, default=4.0)
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(0)
    train_data, val_data = batchify(markov_corpus(3000, args.vocab, 0), 10), batchify(markov_corpus(600, args.vocab, 1), 10)
    model = RNNModel(args.vocab, 24)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        loss = train(model, train_data, optimizer, args)
        val = evaluate(model, val_data, args)
        print(f"epoch {epoch} train {loss:.3f} valid ppl {math.exp(val):.2f}")
        if epoch == 3:
            print("switching to ASGD")
            optimizer = torch.optim.ASGD(model.parameters(), lr=args.lr / 4, t0=0, lambd=0.0)


if __name__ == "__main__":
    main()
