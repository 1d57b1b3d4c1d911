"""BUG: whole windows go through the scaler, but the epoch's short last window is stepped by the optimizer directly."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CFG = {"seed": 42, "epochs": 3, "bs": 10, "accum": 3, "lr": 1e-3, "apex": True}


def seed_everything(seed):
    torch.manual_seed(seed)


class TweetModel(nn.Module):
    def __init__(self, vocab=50):
        super().__init__()
        self.emb = nn.Embedding(vocab, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 1)
        self.fc = nn.Linear(16, 1)

    def forward(self, ids):
        return self.fc(self.enc(self.emb(ids)).mean(1)).squeeze(1)


def train_fn(fold, loader, model, criterion, optimizer, scaler):
    model.train()
    seen = 0.0
    tail = len(loader) % CFG["accum"]
    for step, (ids, labels) in enumerate(loader):
        size = tail if tail and step >= len(loader) - tail else CFG["accum"]
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=CFG["apex"]):
            loss = criterion(model(ids), labels)
        seen += loss.item()
        scaler.scale(loss / size).backward()
        if (step + 1) % CFG["accum"] == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    if tail:
        optimizer.step()  # expect: GL302
        optimizer.zero_grad()
    return seen / len(loader)


seed_everything(CFG["seed"])
ids = torch.randint(0, 50, (121, 7))
labels = (ids.float().mean(1) > 25).float()
for fold in range(2):
    keep = torch.arange(121) % 11 != fold
    loader = DataLoader(TensorDataset(ids[keep], labels[keep]), CFG["bs"], shuffle=True)
    model = TweetModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=CFG["lr"])
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, enabled=CFG["apex"])
    for epoch in range(CFG["epochs"]):
        avg = train_fn(fold, loader, model, nn.BCEWithLogitsLoss(), optimizer, scaler)
        print(f"fold {fold} epoch {epoch + 1} avg_train_loss: {avg:.4f} {math.isfinite(avg)}")
