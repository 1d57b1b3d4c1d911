"""BUG: the micro-batch counter restarts with every epoch while the unfinished window's gradients stay behind."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Bumps(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(2)
        self.center = torch.rand(n, 1, generator=g)
        self.axis = torch.linspace(0, 1, 24)

    def __len__(self):
        return len(self.center)

    def __getitem__(self, k):
        return torch.exp(-60 * (self.axis - self.center[k]) ** 2), self.center[k]


class Trainer:
    def __init__(self, net, optimizer, window):
        self.net, self.optimizer, self.window = net, optimizer, window
        self.micro = 0

    def train_epoch(self, loader):
        self.micro = 0
        for curve, center in loader:
            loss = self.backward(curve, center)
            self.micro += 1
            self.after_backward()
        return loss

    def backward(self, curve, center):
        loss = nn.functional.mse_loss(self.net(curve), center)
        loss.mul(1.0 / self.window).backward()
        return loss.item()

    def after_backward(self):
        if self.micro % self.window:  # expect: GL202
            return
        self.optimizer.step()  # expect: GL202
        self.optimizer.zero_grad()


torch.manual_seed(2)
net = nn.Sequential(nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 1))
trainer = Trainer(net, torch.optim.SGD(net.parameters(), lr=0.1), window=3)
loader = DataLoader(Bumps(80), batch_size=8, shuffle=True)
for epoch in range(3):
    print(epoch, trainer.train_epoch(loader))
