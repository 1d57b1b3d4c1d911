"""OK: automatic optimisation with value clipping, a per-step warm-up, an EMA callback, gradient norms from a hook and a resume from a checkpoint."""
import copy
import logging
import os
import tempfile
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Digits(L.LightningDataModule):
    def setup(self, stage=None):
        digits = load_digits()
        x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
        self.train_set, self.val_set = TensorDataset(x[:1400], y[:1400]), TensorDataset(x[1400:], y[1400:])

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=70, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=200)


class EMACallback(L.Callback):
    def __init__(self, decay):
        self.decay, self.shadow = decay, None

    def on_fit_start(self, trainer, module):
        if self.shadow is None:
            self.shadow = copy.deepcopy(module.net).requires_grad_(False)

    @torch.no_grad()
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        for e, p in zip(self.shadow.parameters(), module.net.parameters()):
            e.lerp_(p, 1 - self.decay)

    def on_validation_epoch_end(self, trainer, module):
        if trainer.sanity_checking:
            return
        x, y = trainer.datamodule.val_set.tensors
        self.accuracy = (self.shadow(x).argmax(1) == y).float().mean().item()

    def state_dict(self):
        return {"shadow": self.shadow.state_dict()}

    def load_state_dict(self, state):
        if self.shadow is not None:
            self.shadow.load_state_dict(state["shadow"])


class Classifier(L.LightningModule):
    def __init__(self, lr=0.1, warmup=10):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
        self.norms = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y, label_smoothing=0.05)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_acc", (self.net(x).argmax(1) == y).float().mean(), prog_bar=False)

    def on_before_optimizer_step(self, optimizer):
        self.norms.append(torch.stack([p.grad.norm() for p in self.parameters()]).norm().item())

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: min(1.0, (i + 1) / self.hparams.warmup))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


def make_trainer(folder, epochs, ema):
    return L.Trainer(max_epochs=epochs, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, callbacks=[ema],
                     gradient_clip_val=0.5, gradient_clip_algorithm="value", enable_progress_bar=False, enable_model_summary=False,
                     default_root_dir=folder)


def main():
    L.seed_everything(0, verbose=False)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "last.ckpt")
        model, ema = Classifier(), EMACallback(0.9)
        trainer = make_trainer(folder, 2, ema)
        trainer.fit(model, datamodule=Digits())
        trainer.save_checkpoint(path)
        print("after 2 epochs", trainer.callback_metrics["val_acc"].item(), "ema", ema.accuracy, "norm", max(model.norms))
        model, ema = Classifier(), EMACallback(0.9)
        trainer = make_trainer(folder, 4, ema)
        trainer.fit(model, datamodule=Digits(), ckpt_path=path)
        print("after 4 epochs", trainer.callback_metrics["val_acc"].item(), "ema", ema.accuracy, "norm", max(model.norms))


if __name__ == "__main__":
    main()
