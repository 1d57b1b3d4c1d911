"""OK: an engine in the DeepSpeed manner: engine.backward() divides by the window, engine.step() acts and clears at its end only."""
import torch
from torch import nn


class Engine(nn.Module):
    def __init__(self, module, optimizer, scheduler, window, clip):
        super().__init__()
        self.module, self.optimizer, self.scheduler = module, optimizer, scheduler
        self.window, self.clip, self.micro_steps, self.global_steps = window, clip, 0, 0

    def forward(self, x):
        return self.module(x)

    def is_gradient_accumulation_boundary(self):
        return (self.micro_steps + 1) % self.window == 0

    def backward(self, loss):
        (loss / self.window).backward()

    def step(self):
        if self.is_gradient_accumulation_boundary():
            nn.utils.clip_grad_norm_(self.module.parameters(), self.clip)
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.scheduler.step()
            self.global_steps += 1
        self.micro_steps += 1


def initialize(module, window=4):
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.2, total_iters=12)
    return Engine(module, optimizer, scheduler, window, clip=1.0)


torch.manual_seed(0)
engine = initialize(nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1)))
for epoch in range(3):
    for x in torch.randn(16, 8, 6):
        loss = (engine(x) - x.prod(1, keepdim=True)).pow(2).mean()
        engine.backward(loss)
        engine.step()
print("global steps", engine.global_steps, "loss", loss.item())
