"""BUG: manual optimization with a window from hparams never clears."""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LitRegressor(L.LightningModule):
    def __init__(self, accum=3, lr=1e-2):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = False
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
        self.criterion = nn.MSELoss()

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=12)
        return [opt], [sched]

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        sched = self.lr_schedulers()
        x, y = batch
        loss = self.criterion(self.net(x), y)
        self.manual_backward(loss / self.hparams.accum)  # expect: GL101
        if (batch_idx + 1) % self.hparams.accum == 0:
            self.clip_gradients(opt, gradient_clip_val=1.0, gradient_clip_algorithm="norm")
            opt.step()
            sched.step()
        self.log("train_loss", loss, prog_bar=False)

    def on_train_epoch_end(self):
        print("epoch", self.current_epoch, float(self.trainer.callback_metrics["train_loss"]))

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", self.criterion(self.net(x), y))


def main():
    L.seed_everything(1, verbose=False)
    x = torch.randn(160, 8)
    y = x.abs().sum(1, keepdim=True)
    train = DataLoader(TensorDataset(x[:144], y[:144]), batch_size=12, shuffle=True)
    val = DataLoader(TensorDataset(x[144:], y[144:]), batch_size=16)
    trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(LitRegressor(), train, val)
    print("done")


if __name__ == "__main__":
    main()
