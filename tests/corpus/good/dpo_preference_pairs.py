"""OK: direct preference optimisation against a frozen copy; pairs per window are counted first, and the last window of an epoch may be short."""
import argparse
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, LENGTH = 12, 6


class TinyLM(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.embed, self.gru, self.head = nn.Embedding(VOCAB + 1, d), nn.GRU(d, d, batch_first=True), nn.Linear(d, VOCAB)

    def forward(self, tokens):
        start = torch.full((len(tokens), 1), VOCAB)
        return self.head(self.gru(self.embed(torch.cat([start, tokens[:, :-1]], 1)))[0])


def sequence_log_prob(model, tokens, mask):
    logp = model(tokens).log_softmax(-1).gather(2, tokens.unsqueeze(-1)).squeeze(-1)
    return (logp * mask).sum(1)


def preference_data(n, g):
    chosen = torch.randint(0, VOCAB // 2, (n, LENGTH), generator=g) * 2
    rejected = torch.randint(0, VOCAB, (n, LENGTH), generator=g)
    lengths = torch.randint(3, LENGTH + 1, (n, 2, 1), generator=g)
    masks = (torch.arange(LENGTH) < lengths).float()
    return chosen, rejected, masks[:, 0], masks[:, 1]


def supervised_warmup(model, data, epochs, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    chosen, _, mask, _ = data
    for _ in range(epochs):
        for index in torch.randperm(len(chosen)).split(32):
            loss = -sequence_log_prob(model, chosen[index], mask[index]).sum() / mask[index].sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def dpo_loss(policy, reference, batch, beta):
    chosen, rejected, chosen_mask, rejected_mask = batch
    with torch.no_grad():
        ref = sequence_log_prob(reference, chosen, chosen_mask) - sequence_log_prob(reference, rejected, rejected_mask)
    pol = sequence_log_prob(policy, chosen, chosen_mask) - sequence_log_prob(policy, rejected, rejected_mask)
    margin = beta * (pol - ref)
    return -F.logsigmoid(margin).sum(), (margin.detach() > 0).sum().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--micro", type=int, default=8)
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--beta", type=float, default=0.3)
    args = parser.parse_args()
    torch.manual_seed(0)
    data = preference_data(150, torch.Generator().manual_seed(0))
    policy = TinyLM()
    print("warm-up loss", supervised_warmup(policy, data, 2, 1e-2))
    policy.zero_grad(set_to_none=True)
    reference = copy.deepcopy(policy).eval().requires_grad_(False)
    optimizer = torch.optim.RMSprop(policy.parameters(), lr=2e-3)
    updates = args.epochs * math.ceil(150 / (args.micro * args.accumulate))
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=updates)
    for epoch in range(args.epochs):
        total = wins = 0
        for window in torch.randperm(150).split(args.micro * args.accumulate):
            optimizer.zero_grad()
            for index in window.split(args.micro):
                loss, good = dpo_loss(policy, reference, [t[index] for t in data], args.beta)
                (loss / len(window)).backward()
                total += loss.item()
                wins += good
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        print(f"epoch {epoch} loss {total / 150:.4f} reward accuracy {wins / 150:.3f} lr {scheduler.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    main()
