"""BUG: the polynomial decay is planned over the number of updates, but it advances with every sub-batch."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


class SegTrainer:
    sub_batches = 4

    def __init__(self, images, masks, epochs):
        self.images, self.masks, self.epochs = images, masks, epochs
        self.net = nn.Sequential(
            nn.Conv2d(2, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(), nn.Conv2d(8, 1, 1)
        )
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.2, momentum=0.9)
        self.max_iter = epochs * (len(images) // 16)
        self.poly = LambdaLR(self.opt, lambda it: max(0.0, 1 - it / self.max_iter) ** 0.9)

    def criterion(self, logits, mask):
        p = logits.sigmoid()
        dice = 1 - (2 * (p * mask).sum() + 1) / (p.sum() + mask.sum() + 1)
        return F.binary_cross_entropy_with_logits(logits, mask) + dice

    def micro_batches(self):
        return torch.randperm(len(self.images)).split(16 // self.sub_batches)

    def run(self):
        for epoch in range(self.epochs):
            total, held = 0.0, 0
            self.opt.zero_grad()
            for idx in self.micro_batches():
                loss = self.criterion(self.net(self.images[idx]), self.masks[idx]) / self.sub_batches
                loss.backward()
                total += loss.item()
                held += 1
                if held == self.sub_batches:
                    self.opt.step()
                    self.opt.zero_grad()
                    held = 0
                self.poly.step()  # expect: GL205
            print(f"epoch {epoch} lr {self.poly.get_last_lr()[0]:.4f} loss {total:.4f}")


torch.manual_seed(56)
images = torch.rand(64, 2, 8, 8)
SegTrainer(images, (images[:, :1] > images[:, 1:]).float(), epochs=3).run()
