"""OK: main, auxiliary and dice losses of a small U-Net are weighted, summed and differentiated once per batch."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Discs(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        yy, xx = torch.meshgrid(torch.arange(16), torch.arange(16), indexing="ij")
        centre = torch.randint(4, 12, (n, 2, 1, 1), generator=g)
        radius = torch.randint(2, 5, (n, 1, 1), generator=g)
        self.masks = (((yy - centre[:, 0]) ** 2 + (xx - centre[:, 1]) ** 2) <= radius ** 2).float().unsqueeze(1)
        self.images = self.masks + 0.5 * torch.randn(n, 1, 16, 16, generator=g)

    def __len__(self):
        return len(self.masks)

    def __getitem__(self, i):
        return {"image": self.images[i], "mask": self.masks[i]}


def double_conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True),
                         nn.Conv2d(o, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.down1, self.down2, self.mid = double_conv(1, width), double_conv(width, 2 * width), double_conv(2 * width, 4 * width)
        self.up2, self.up1 = double_conv(6 * width, 2 * width), double_conv(3 * width, width)
        self.aux_head, self.head = nn.Conv2d(2 * width, 1, 1), nn.Conv2d(width, 1, 1)

    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.down2(F.max_pool2d(d1, 2))
        m = self.mid(F.max_pool2d(d2, 2))
        u2 = self.up2(torch.cat([F.interpolate(m, scale_factor=2), d2], 1))
        u1 = self.up1(torch.cat([F.interpolate(u2, scale_factor=2), d1], 1))
        if self.training:
            return self.head(u1), F.interpolate(self.aux_head(u2), scale_factor=2)
        return self.head(u1)


def dice_loss(logits, target, eps=1.0):
    p = logits.sigmoid()
    dims = (1, 2, 3)
    return (1 - (2 * (p * target).sum(dims) + eps) / (p.sum(dims) + target.sum(dims) + eps)).mean()


def criterion(outputs, mask):
    out, aux = outputs
    return {"bce": F.binary_cross_entropy_with_logits(out, mask), "dice": dice_loss(out, mask),
            "aux": 0.4 * F.binary_cross_entropy_with_logits(aux, mask)}


@torch.no_grad()
def mean_iou(net, loader):
    net.eval()
    inter = union = 0.0
    for batch in loader:
        pred = net(batch["image"]) > 0
        mask = batch["mask"] > 0
        inter += (pred & mask).sum().item()
        union += (pred | mask).sum().item()
    net.train()
    return inter / union


def train_net(net, device, epochs=4, batch_size=16, lr=5e-3):
    train_loader = DataLoader(Discs(112, 0), batch_size=batch_size, shuffle=True, drop_last=True)
    val_loader = DataLoader(Discs(32, 1), batch_size=batch_size)
    optimizer = torch.optim.RMSprop(net.parameters(), lr=lr, weight_decay=1e-8, momentum=0.5)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", patience=1)
    global_step = 0
    for epoch in range(epochs):
        net.train()
        epoch_loss = 0.0
        for batch in train_loader:
            images, masks = batch["image"].to(device), batch["mask"].to(device)
            losses = criterion(net(images), masks)
            loss = sum(losses.values())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(net.parameters(), 0.1)
            optimizer.step()
            epoch_loss += loss.item()
            global_step += 1
            if global_step % 10 == 0:
                score = mean_iou(net, val_loader)
                scheduler.step(score)
                histograms = {n: (p.detach().norm().item(), p.grad.norm().item()) for n, p in net.named_parameters() if n.endswith("head.weight")}
                print("step", global_step, "iou", round(score, 3), histograms)
        print("epoch", epoch, "loss", epoch_loss / len(train_loader))


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_net(UNet().to(device), device)
