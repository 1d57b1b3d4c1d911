"""OK: a hand-written wrapper sets the rate for the coming step and then steps: its own scheduler is meant to come first."""
import torch
from torch import nn


class ScheduledOptim:
    def __init__(self, optimizer, d_model, warmup):
        self._optimizer, self.d_model, self.warmup, self.n_steps = optimizer, d_model, warmup, 0

    def zero_grad(self):
        self._optimizer.zero_grad()

    def step_and_update_lr(self):
        self._update_learning_rate()
        self._optimizer.step()

    def _update_learning_rate(self):
        self.n_steps += 1
        lr = self.d_model ** -0.5 * min(self.n_steps ** -0.5, self.n_steps * self.warmup ** -1.5)
        for group in self._optimizer.param_groups:
            group["lr"] = lr


torch.manual_seed(0)
model = nn.Transformer(d_model=16, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=32,
                       dropout=0.0, batch_first=True)
optimizer = ScheduledOptim(torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9), 16, warmup=15)
for step in range(25):
    src = torch.randn(4, 6, 16)
    optimizer.zero_grad()
    loss = (model(src, src.roll(1, 1)) - src).pow(2).mean()
    loss.backward()
    optimizer.step_and_update_lr()
print("loss", loss.item())
