"""OK: a Lightning GAN with manual optimisation and toggled optimizers; each side is cleared after its own step."""
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader

warnings.filterwarnings("ignore")


class GAN(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
        self.discriminator = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def configure_optimizers(self):
        return (torch.optim.Adam(self.generator.parameters(), lr=1e-3),
                torch.optim.Adam(self.discriminator.parameters(), lr=1e-3))

    def training_step(self, real):
        opt_g, opt_d = self.optimizers()
        bce = nn.functional.binary_cross_entropy_with_logits
        n = real.size(0)

        self.toggle_optimizer(opt_g)
        fake = self.generator(torch.randn(n, 4))
        g_loss = bce(self.discriminator(fake), torch.ones(n, 1))
        self.manual_backward(g_loss)
        opt_g.step()
        opt_g.zero_grad()
        self.untoggle_optimizer(opt_g)

        self.toggle_optimizer(opt_d)
        d_loss = (bce(self.discriminator(real), torch.ones(n, 1))
                  + bce(self.discriminator(fake.detach()), torch.zeros(n, 1))) / 2
        self.manual_backward(d_loss)
        opt_d.step()
        opt_d.zero_grad()
        self.untoggle_optimizer(opt_d)
        self.last = (g_loss.item(), d_loss.item())


L.seed_everything(1, verbose=False)
gan = GAN()
trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_progress_bar=False, enable_model_summary=False)
trainer.fit(gan, DataLoader(torch.randn(160, 3) + 1, batch_size=16))
print(gan.last)
