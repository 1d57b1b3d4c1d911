"""OK: NT-Xent on two views with a LARS optimizer written as a plain class, which clears the gradients at the end of its own step."""
import argparse
import math

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class TwoCrops(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def augment(self, img):
        img = torch.roll(img, tuple(torch.randint(-1, 2, (2,)).tolist()), (0, 1))
        return (img + 0.1 * torch.randn_like(img)) * (torch.rand(8, 8) > 0.1)

    def __getitem__(self, i):
        return self.augment(self.images[i]), self.augment(self.images[i])


class LARS:
    """Not a torch optimizer: layer-wise trust ratio, momentum, weight decay except on biases."""

    def __init__(self, named, lr, momentum=0.9, weight_decay=1e-4, eta=0.02):
        self.named, self.lr, self.momentum, self.wd, self.eta = list(named), lr, momentum, weight_decay, eta
        self.buffers = {n: torch.zeros_like(p) for n, p in self.named}

    @torch.no_grad()
    def step(self):
        for name, p in self.named:
            if p.grad is None:
                continue
            d_p, adapted = p.grad, 1.0
            if p.ndim > 1:
                d_p = d_p + self.wd * p
                w, g = p.norm(), d_p.norm()
                if w > 0 and g > 0:
                    adapted = float(self.eta * w / g)
            buf = self.buffers[name]
            buf.mul_(self.momentum).add_(d_p, alpha=adapted * self.lr)
            p.sub_(buf)
            p.grad = None


def nt_xent(z1, z2, temperature):
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = z @ z.t() / temperature
    sim.fill_diagonal_(float("-inf"))
    n = len(z1)
    return F.cross_entropy(sim, torch.cat([torch.arange(n) + n, torch.arange(n)]))


def knn_accuracy(encoder, x, y):
    encoder.eval()
    with torch.no_grad():
        h = F.normalize(encoder(x), dim=1)
    encoder.train()
    neighbour = (h[1400:] @ h[:1400].t()).argmax(1)
    return (y[:1400][neighbour] == y[1400:]).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--temperature", type=float, default=0.5)
    args = parser.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    images, y = torch.tensor(digits.images, dtype=torch.float32) / 16, torch.tensor(digits.target)
    loader = DataLoader(TwoCrops(images[:1400]), args.batch_size, shuffle=True, drop_last=True)
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32))
    projector = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 16))
    optimizer = LARS([*encoder.named_parameters("enc"), *projector.named_parameters("proj")], lr=1.0)
    total = args.epochs * len(loader)
    step = 0
    for epoch in range(args.epochs):
        running = 0.0
        for v1, v2 in loader:
            optimizer.lr = 0.5 * (1 + math.cos(math.pi * step / total))
            loss = nt_xent(projector(encoder(v1)), projector(encoder(v2)), args.temperature)
            loss.backward()
            optimizer.step()
            running += loss.item()
            step += 1
        print(f"epoch {epoch} loss {running / len(loader):.4f} knn {knn_accuracy(encoder, images, y):.3f}")


if __name__ == "__main__":
    main()
