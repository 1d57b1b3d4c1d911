"""OK: Lightning's automatic optimisation with accumulate_grad_batches, clipping and a scheduler per step, all inside the library."""
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class Regression(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val", nn.functional.mse_loss(self.net(x), y))

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


L.seed_everything(0, verbose=False)
x = torch.randn(128, 5)
data = TensorDataset(x, x.sum(1, keepdim=True))
module = Regression()
trainer = L.Trainer(max_epochs=3, accelerator="cpu", accumulate_grad_batches=4, gradient_clip_val=1.0, logger=False,
                    enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
trainer.fit(module, DataLoader(data, batch_size=8, shuffle=True), DataLoader(data, batch_size=32))
print("updates", trainer.global_step, "validation", trainer.callback_metrics["val"].item())
