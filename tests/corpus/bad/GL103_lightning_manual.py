"""BUG: training_step zeroes the gradients of every batch although it steps only on every fourth."""
import logging
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Regressor(L.LightningModule):
    window = 4

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        opt = self.optimizers()
        opt.zero_grad()  # expect: GL103
        loss = nn.functional.mse_loss(self.net(x), y) / self.window
        self.manual_backward(loss)
        if (batch_idx + 1) % self.window == 0:
            opt.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


if __name__ == "__main__":
    L.seed_everything(5, verbose=False)
    x = torch.randn(160, 6)
    loader = DataLoader(TensorDataset(x, x[:, :1] * x[:, 1:2]), batch_size=10, shuffle=True)
    module = Regressor()
    trainer = L.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(module, loader)
    print("weights", sum(p.abs().sum() for p in module.parameters()).item())
