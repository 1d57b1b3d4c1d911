"""OK: every layer has its own optimizer and local goodness loss; inputs are detached, so no layer's backward reaches another."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.optim import Adam


def overlay_y_on_x(x, y):
    x_ = x.clone()
    x_[:, :10] = 0
    x_[range(len(x)), y] = 3.0
    return x_


class FFLayer(nn.Linear):
    def __init__(self, i, o, threshold=1.0):
        super().__init__(i, o)
        self.opt = Adam(self.parameters(), lr=3e-3)
        self.threshold = threshold

    def forward(self, x):
        direction = x.size(1) ** 0.5 * x / (x.norm(2, 1, keepdim=True) + 1e-4)
        return F.relu(F.linear(direction, self.weight, self.bias))

    def train_step(self, x_pos, x_neg):
        g_pos = self.forward(x_pos).pow(2).mean(1)
        g_neg = self.forward(x_neg).pow(2).mean(1)
        loss = F.softplus(torch.cat([self.threshold - g_pos, g_neg - self.threshold])).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return self.forward(x_pos).detach(), self.forward(x_neg).detach(), loss.item()


class FFNet:
    def __init__(self, dims):
        self.layers = [FFLayer(i, o) for i, o in zip(dims, dims[1:])]
        self.readout = nn.Linear(sum(dims[1:]), 10)
        self.readout_opt = torch.optim.SGD(self.readout.parameters(), lr=0.1)

    def activities(self, x):
        outputs = []
        for layer in self.layers:
            x = layer(x).detach()
            outputs.append(F.normalize(x, dim=1))
        return torch.cat(outputs, 1)

    @torch.no_grad()
    def predict(self, x):
        goodness = []
        for label in range(10):
            h, g = overlay_y_on_x(x, torch.full((len(x),), label)), 0.0
            for layer in self.layers:
                h = layer(h)
                g = g + h.pow(2).mean(1)
            goodness.append(g)
        return torch.stack(goodness, 1).argmax(1)

    def train_batch(self, x, y):
        wrong = (y + torch.randint(1, 10, y.shape)) % 10
        h_pos, h_neg, losses = overlay_y_on_x(x, y), overlay_y_on_x(x, wrong), []
        for layer in self.layers:
            h_pos, h_neg, loss = layer.train_step(h_pos, h_neg)
            losses.append(loss)
        neutral = x.clone()
        neutral[:, :10] = 0.1
        self.readout_opt.zero_grad()
        loss = F.cross_entropy(self.readout(self.activities(neutral)), y)
        loss.backward()
        self.readout_opt.step()
        return [*losses, loss.item()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    x = torch.cat([torch.zeros(len(digits.data), 10), torch.tensor(digits.data, dtype=torch.float32) / 16], 1)
    y = torch.tensor(digits.target)
    net = FFNet([74, 64, 64])
    for epoch in range(args.epochs):
        total = torch.zeros(3)
        batches = torch.randperm(1400).split(100)
        for index in batches:
            total += torch.tensor(net.train_batch(x[index], y[index]))
        accuracy = (net.predict(x[1400:]) == y[1400:]).float().mean().item()
        print(f"epoch {epoch} losses {[round(v, 3) for v in (total / len(batches)).tolist()]} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
