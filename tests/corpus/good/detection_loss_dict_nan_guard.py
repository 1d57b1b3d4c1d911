"""OK: a torchvision-style loss dictionary is summed and differentiated once; a non-finite batch is skipped before its backward."""
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn


class TinyDetector(nn.Module):
    """Returns losses in training mode and predictions otherwise, as torchvision's detectors do."""

    def __init__(self, classes=3):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU())
        self.box_head = nn.Conv2d(16, 4, 1)
        self.cls_head = nn.Conv2d(16, classes, 1)
        self.objectness = nn.Conv2d(16, 1, 1)

    def forward(self, images, targets=None):
        features = self.backbone(torch.stack(images))
        boxes = self.box_head(features).flatten(2).transpose(1, 2)
        logits = self.cls_head(features).flatten(2).transpose(1, 2)
        obj = self.objectness(features).flatten(1)
        if targets is None:
            return {"boxes": boxes, "labels": logits.argmax(-1), "scores": obj.sigmoid()}
        cell = torch.stack([t["cell"] for t in targets])
        rows = torch.arange(len(images))
        return {
            "loss_box_reg": F.smooth_l1_loss(boxes[rows, cell], torch.stack([t["box"] for t in targets])),
            "loss_classifier": F.cross_entropy(logits[rows, cell], torch.stack([t["label"] for t in targets])),
            "loss_objectness": F.binary_cross_entropy_with_logits(obj, F.one_hot(cell, obj.size(1)).float()),
        }


class Scenes(torch.utils.data.Dataset):
    def __init__(self, n, broken=()):
        self.generator, self.n, self.broken = torch.Generator().manual_seed(5), n, set(broken)
        self.items = [self.draw(i) for i in range(n)]

    def draw(self, i):
        r, c = torch.randint(0, 4, (2,), generator=self.generator).tolist()
        label = int(torch.randint(0, 3, (1,), generator=self.generator))
        image = 0.1 * torch.randn(1, 16, 16, generator=self.generator)
        image[0, 4 * r:4 * r + 4, 4 * c:4 * c + 4] += label + 1.0
        if i in self.broken:
            image[0, 0, 0] = float("nan")
        return image, {"box": torch.tensor([r, c, r + 1, c + 1]) / 4.0, "label": torch.tensor(label), "cell": torch.tensor(4 * r + c)}

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.items[i]


def collate_fn(batch):
    return tuple(zip(*batch))


class SmoothedValue:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value):
        self.total, self.count = self.total + value, self.count + 1

    @property
    def avg(self):
        return self.total / max(1, self.count)


def train_one_epoch(model, optimizer, loader, epoch):
    model.train()
    meters, skipped = {}, 0
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=len(loader) - 1) if epoch == 0 else None
    for images, targets in loader:
        loss_dict = model(list(images), list(targets))
        losses = sum(loss_dict.values())
        loss_value = losses.item()
        if not math.isfinite(loss_value):
            print("loss is", loss_value, "- batch skipped", file=sys.stderr)
            skipped += 1
            continue
        optimizer.zero_grad()
        losses.backward()
        optimizer.step()
        if warmup is not None:
            warmup.step()
        for k, v in loss_dict.items():
            meters.setdefault(k, SmoothedValue()).update(v.item())
    print(f"epoch {epoch}", {k: round(m.avg, 4) for k, m in meters.items()}, "skipped", skipped)


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    hits = total = 0
    for images, targets in loader:
        out = model(list(images))
        cell = torch.stack([t["cell"] for t in targets])
        hits += (out["scores"].argmax(1) == cell).sum().item()
        total += len(images)
    return hits / total


torch.manual_seed(0)
train = torch.utils.data.DataLoader(Scenes(128, broken=(17, 90)), batch_size=8, shuffle=True, collate_fn=collate_fn)
test = torch.utils.data.DataLoader(Scenes(32), batch_size=8, collate_fn=collate_fn)
model = TinyDetector()
params = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=5e-4)
for epoch in range(4):
    train_one_epoch(model, optimizer, train, epoch)
    print("localised", evaluate(model, test))
