"""OK: Accelerate's recipe for exact windows: batches fetched first, tokens counted, the loss multiplied by N because backward() divides by N."""
import contextlib
import tempfile

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, Dataset

IGNORE = -100


class Sequences(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(0)
        self.rows = []
        for _ in range(n):
            length, stride = torch.randint(4, 13, (1,), generator=g).item(), torch.randint(1, 3, (1,), generator=g).item()
            start = torch.randint(0, 10, (1,), generator=g).item()
            self.rows.append(torch.tensor([(start + stride * i) % 10 for i in range(length)]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    width = max(len(r) for r in rows) - 1
    tokens, labels = torch.zeros(len(rows), width, dtype=torch.long), torch.full((len(rows), width), IGNORE)
    for k, r in enumerate(rows):
        tokens[k, :len(r) - 1], labels[k, :len(r) - 1] = r[:-1], r[1:]
    return {"tokens": tokens, "labels": labels}


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm, self.head = nn.Embedding(10, 24), nn.LSTM(24, 24, batch_first=True), nn.Linear(24, 10)

    def forward(self, tokens):
        return self.head(self.lstm(self.embed(tokens))[0])


def run_epoch(accelerator, model, optimizer, scheduler, loader):
    steps = accelerator.gradient_accumulation_steps
    iterator, remaining, total, tokens = iter(loader), len(loader), 0.0, 0
    while remaining > 0:
        window = [next(iterator) for _ in range(min(steps, remaining))]
        remaining -= len(window)
        num_items = sum((b["labels"] != IGNORE).sum() for b in window)
        num_items = accelerator.gather(num_items).sum().item()
        for i, batch in enumerate(window):
            ctx = model.no_sync if i < len(window) - 1 and accelerator.num_processes > 1 else contextlib.nullcontext
            with ctx():
                logits = model(batch["tokens"])
                loss = F.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten(), ignore_index=IGNORE, reduction="sum")
                total += loss.item()
                accelerator.backward(loss * steps * accelerator.num_processes / num_items)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        tokens += num_items
    return total / tokens


def main():
    set_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    model = LM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: min(1.0, (i + 1) / 5))
    loader = DataLoader(Sequences(104), batch_size=8, shuffle=True, collate_fn=collate)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    with tempfile.TemporaryDirectory() as folder:
        for epoch in range(2):
            accelerator.print("epoch", epoch, run_epoch(accelerator, model, optimizer, scheduler, loader))
        accelerator.save_state(folder)
        accelerator.print("diverted", run_epoch(accelerator, model, optimizer, scheduler, loader))
        accelerator.load_state(folder)
        for epoch in range(2, 4):
            accelerator.print("epoch", epoch, run_epoch(accelerator, model, optimizer, scheduler, loader))
    accelerator.end_training()


if __name__ == "__main__":
    main()
