"""BUG: gradients are clipped by hand while still multiplied by the loss scale; they are never unscaled first."""
import torch
from torch import nn

MAX_NORM = 1.0


def clip_by_global_norm(params, max_norm):
    params = [p for p in params if p.grad is not None]
    norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in params))  # expect: GL301
    factor = min(1.0, max_norm / (norm.item() + 1e-6))
    for p in params:
        p.grad.mul_(factor)  # expect: GL301


def main():
    torch.manual_seed(134)
    vocab, steps = 20, 10
    songs = (torch.arange(steps + 1) * 3 + torch.randint(0, vocab, (120, 1))) % vocab
    embed, rnn, out = nn.Embedding(vocab, 12), nn.GRU(12, 20, batch_first=True), nn.Linear(20, vocab)
    net = nn.ModuleList([embed, rnn, out])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=2048.0)
    for epoch in range(2):
        for rows in songs.split(20):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = out(rnn(embed(rows[:, :-1]))[0])
            loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), rows[:, 1:].flatten())
            scaler.scale(loss).backward()
            clip_by_global_norm(net.parameters(), MAX_NORM)  # expect: GL301
            scaler.step(optimizer)
            scaler.update()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
