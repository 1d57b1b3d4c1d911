"""BUG: batch_idx restarts with each epoch of 14 batches, so a window of 4 leaves two batches' gradients over."""
import logging
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Autoencoder(L.LightningModule):
    def __init__(self, accumulate=4):
        super().__init__()
        self.automatic_optimization = False
        self.accumulate = accumulate
        self.encoder = nn.Linear(12, 4)
        self.decoder = nn.Linear(4, 12)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)

    def training_step(self, batch, batch_idx):
        (x,) = batch
        loss = nn.functional.mse_loss(self.decoder(torch.tanh(self.encoder(x))), x)
        self.manual_backward(loss / self.accumulate)
        if (batch_idx + 1) % self.accumulate == 0:  # expect: GL202
            optimizer = self.optimizers()
            optimizer.step()  # expect: GL202
            optimizer.zero_grad()


L.seed_everything(1, verbose=False)
trainer = L.Trainer(
    max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False,
)
model = Autoencoder()
trainer.fit(model, DataLoader(TensorDataset(torch.randn(112, 12)), batch_size=8, shuffle=True))
print("norm", model.decoder.weight.norm().item())
