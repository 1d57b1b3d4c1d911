"""BUG: the mixed-precision trainer scales each micro-batch's mean loss by the GradScaler but never by 1 / accumulate."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    lr: float = 0.02
    accumulate: int = 3
    epochs: int = 2
    dtype: torch.dtype = torch.bfloat16


class Trainer:
    def __init__(self, model, loader, config):
        self.model, self.loader, self.config = model, loader, config
        self.optimizer = torch.optim.SGD(model.parameters(), lr=config.lr)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        self.loss_fn = nn.MSELoss()

    def micro_step(self, x, y):
        with torch.autocast("cpu", dtype=self.config.dtype):
            loss = self.loss_fn(self.model(x), y)  # expect: GL201
        self.scaler.scale(loss).backward()  # expect: GL201
        return loss.item()

    def apply(self):
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()

    def fit(self):
        for epoch in range(self.config.epochs):
            for index, (x, y) in enumerate(self.loader):
                value = self.micro_step(x, y)
                if (index + 1) % self.config.accumulate == 0:
                    self.apply()
            print("epoch", epoch, "loss", value)


torch.manual_seed(25)
inputs = torch.randn(180, 6)
outputs = inputs.roll(1, dims=1) * 0.5
net = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 6))
Trainer(net, DataLoader(TensorDataset(inputs, outputs), batch_size=10, shuffle=True), Config()).fit()
