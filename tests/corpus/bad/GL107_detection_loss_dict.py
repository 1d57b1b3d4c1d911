"""BUG: the epoch's per-loss sums add the tensors of the loss dict with their graphs, not their values."""
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn


class OneBoxDetector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 6, 3, stride=2), nn.ReLU(), nn.Flatten())
        self.cls_head = nn.Linear(6 * 49, 2)
        self.box_head = nn.Linear(6 * 49, 4)

    def forward(self, images, targets):
        f = self.backbone(images)
        boxes = self.box_head(f).sigmoid()
        iou_like = (boxes - targets["boxes"]).abs().amax(1).mean()
        return {
            "loss_classifier": F.cross_entropy(self.cls_head(f), targets["labels"]),
            "loss_box_reg": F.smooth_l1_loss(boxes, targets["boxes"]),
            "loss_extent": 0.1 * iou_like,
        }


def scenes(n):
    boxes = torch.rand(n, 4) * 0.5 + 0.25
    labels = (boxes[:, 2] > boxes[:, 3]).long()
    images = torch.rand(n, 1, 16, 16) * 0.2
    for k in range(n):
        cx, cy = (boxes[k, :2] * 15).long().tolist()
        images[k, 0, cy, cx] += 1.0
    return images, {"boxes": boxes, "labels": labels}


def train_one_epoch(model, optimizer, batches, epoch):
    model.train()
    sums = defaultdict(float)
    for images, targets in batches:
        loss_dict = model(images, targets)
        losses = sum(loss for loss in loss_dict.values())
        optimizer.zero_grad()
        losses.backward()
        optimizer.step()
        for name, value in loss_dict.items():
            sums[name] += value  # expect: GL107
    print(f"Epoch: [{epoch}]", "  ".join(f"{k}: {v.item() / len(batches):.4f}" for k, v in sums.items()))


torch.manual_seed(90)
batches = [scenes(12) for _ in range(8)]
detector = OneBoxDetector()
optimizer = torch.optim.SGD(detector.parameters(), lr=0.02, momentum=0.9)
for epoch in range(3):
    train_one_epoch(detector, optimizer, batches, epoch)
