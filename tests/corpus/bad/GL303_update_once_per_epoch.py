"""BUG: scaler.update() sits in on_epoch_end, so the second batch's scaler.step() raises."""
import torch
from torch import nn


class AmpTrainer:
    def __init__(self):
        torch.manual_seed(154)
        self.model = nn.Sequential(nn.Conv1d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 14, 1))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=256.0)

    def on_epoch_end(self, epoch, loss):
        self.scaler.update()
        print("epoch", epoch, "loss", loss, "scale", self.scaler.get_scale())

    def run(self, signals, targets, epochs=2):
        for epoch in range(epochs):
            for x, y in zip(signals.split(16), targets.split(16)):
                self.optimizer.zero_grad(set_to_none=True)
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    out = self.model(x)
                loss = nn.functional.mse_loss(out.float(), y)
                self.scaler.scale(loss).backward()
                self.scaler.step(self.optimizer)  # expect: GL303
            self.on_epoch_end(epoch, loss.item())


signals = torch.randn(64, 1, 16)
AmpTrainer().run(signals, signals.amax(dim=2))
