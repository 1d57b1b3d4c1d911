"""BUG: the generator's backward fills the discriminator, which is cleared only after its own step."""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader


class LitGAN(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.gen = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))
        self.disc = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))
        self.bce = nn.BCEWithLogitsLoss()

    def configure_optimizers(self):
        gen_opt = torch.optim.Adam(self.gen.parameters(), lr=1e-3)
        disc_opt = torch.optim.Adam(self.disc.parameters(), lr=1e-3)
        return gen_opt, disc_opt

    def training_step(self, real, batch_idx):
        g_opt, d_opt = self.optimizers()
        z = torch.randn(real.size(0), 4)
        ones, zeros = torch.ones(real.size(0), 1), torch.zeros(real.size(0), 1)

        g_loss = self.bce(self.disc(self.gen(z)), ones)
        g_opt.zero_grad()
        self.manual_backward(g_loss)
        g_opt.step()

        d_loss = self.bce(self.disc(real), ones) + self.bce(self.disc(self.gen(z).detach()), zeros)
        self.manual_backward(d_loss)
        d_opt.step()  # expect: GL401
        d_opt.zero_grad()  # expect: GL401
        self.log_dict({"g": g_loss, "d": d_loss})


def main():
    L.seed_everything(0, verbose=False)
    loader = DataLoader(torch.randn(192, 3) * 0.5 + 1, batch_size=16, shuffle=True)
    trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(LitGAN(), loader)
    print({k: float(v) for k, v in trainer.callback_metrics.items()})


main()
