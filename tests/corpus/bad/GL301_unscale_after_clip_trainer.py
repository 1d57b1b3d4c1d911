"""BUG: the trainer clips first and calls unscale_ afterwards."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MixedPrecision:
    def __init__(self, optimizer, max_norm):
        self.optimizer = optimizer
        self.max_norm = max_norm
        self.scaler = torch.amp.GradScaler("cpu", init_scale=4096.0)

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def step(self, parameters):
        norm = nn.utils.clip_grad_norm_(parameters, self.max_norm)  # expect: GL301
        self.scaler.unscale_(self.optimizer)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return norm.item()


class ResidualTrainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
        self.precision = MixedPrecision(self.optimizer, max_norm=0.5)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            for x, y in loader:
                self.optimizer.zero_grad()
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    loss = nn.functional.smooth_l1_loss(x + self.net(x), y)
                self.precision.backward(loss)
                norm = self.precision.step(self.net.parameters())
            print(epoch, loss.item(), norm)


torch.manual_seed(136)
x = torch.randn(128, 6)
net = nn.Sequential(nn.Linear(6, 12), nn.SELU(), nn.Linear(12, 6))
ResidualTrainer(net).fit(DataLoader(TensorDataset(x, x.sort(1).values), batch_size=16, shuffle=True), 2)
