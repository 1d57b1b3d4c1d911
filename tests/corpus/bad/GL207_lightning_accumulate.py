"""BUG: training_step divides by 4 although accumulate_grad_batches=4 already makes Lightning do so."""
import logging
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class LitRegression(L.LightningModule):
    def __init__(self, accumulate):
        super().__init__()
        self.accumulate = accumulate
        self.model = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.l1_loss(self.model(x), y)
        return loss / self.accumulate  # expect: GL207

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


def main():
    L.seed_everything(130, verbose=False)
    accumulate = 4
    x = torch.randn(160, 7)
    loader = DataLoader(TensorDataset(x, x.norm(dim=1, keepdim=True)), batch_size=10, shuffle=True)
    module = LitRegression(accumulate)
    trainer = L.Trainer(
        max_epochs=2, accumulate_grad_batches=accumulate, accelerator="cpu", logger=False,  # expect: GL207
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(module, loader)  # expect: GL207
    print("global steps", trainer.global_step, module.model[0].weight.norm().item())


if __name__ == "__main__":
    main()
