"""BUG: the model is copied after the optimizer was built from it; the copy is trained and clipped, never stepped."""
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(20, 32)
        self.body = nn.Sequential(nn.ReLU(), nn.Linear(32, 32), nn.ReLU())

    def forward(self, x):
        return self.body(self.stem(x))


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def param_groups(model, lr):
    return [
        {"params": [p for p in model.backbone.parameters() if p.requires_grad], "lr": lr * 0.1},
        {"params": model.head.parameters(), "lr": lr},
    ]


def build(classes=5):
    model = Classifier(classes)
    for p in model.backbone.stem.parameters():
        p.requires_grad = False
    return model


def run_epoch(model, loader, optimizer, criterion):
    losses = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()  # expect: GL403
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).mean().item()


torch.manual_seed(11)
x = torch.randn(192, 20)
y = (x[:, :5]).argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = build()
frozen_copy = copy.deepcopy(model)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(param_groups(model, 1e-2), weight_decay=0.01)  # expect: GL403
model = copy.deepcopy(model)
for epoch in range(3):
    print("epoch", epoch, run_epoch(model, loader, optimizer, criterion))
print("done")
