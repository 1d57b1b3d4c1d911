"""BUG: the clip that functools.partial prepared runs before scaler.unscale_, on gradients 4096 times too large."""
from functools import partial

import torch
import torch.nn as nn
from torch.amp import GradScaler, autocast

PAD, VOCAB = 0, 18
clip = partial(nn.utils.clip_grad_norm_, max_norm=1.0, norm_type=2.0)
amp = partial(autocast, device_type="cpu", dtype=torch.bfloat16)


class Seq2Seq(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.enc = nn.GRU(d, d, batch_first=True)
        self.dec = nn.GRU(d, d, batch_first=True)
        self.proj = nn.Linear(d, VOCAB)

    def forward(self, src, tgt_in):
        _, h = self.enc(self.emb(src))
        o, _ = self.dec(self.emb(tgt_in), h)
        return self.proj(o)


def train_epoch(model, batches, optimizer, criterion, scaler):
    model.train()
    losses = 0.0
    for src, tgt in batches:
        tgt_in, tgt_out = tgt[:, :-1], tgt[:, 1:]
        optimizer.zero_grad()
        with amp():
            logits = model(src, tgt_in)
            loss = criterion(logits.flatten(0, 1), tgt_out.flatten())
        scaler.scale(loss).backward()
        clip(model.parameters())  # expect: GL301
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        losses += loss.item()
    return losses / len(batches)


def reversal_batches(count, size, length=6):
    for _ in range(count):
        src = torch.randint(2, VOCAB, (size, length))
        yield src, torch.cat([torch.ones(size, 1, dtype=torch.long), src.flip(1)], 1)


if __name__ == "__main__":
    torch.manual_seed(1001)
    model = Seq2Seq()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    scaler = GradScaler("cpu", init_scale=4096.0)
    batches = list(reversal_batches(6, 16))
    for epoch in range(2):
        print(f"Epoch {epoch}: {train_epoch(model, batches, optimizer, criterion, scaler):.4f}")
