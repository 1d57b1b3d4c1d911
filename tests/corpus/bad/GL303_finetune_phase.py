"""BUG: the pretraining phase updates its scaler, the fine-tuning phase's copy of the code has lost scaler.update()."""
import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, d=16, z=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d, z), nn.Tanh())
        self.decoder = nn.Linear(z, d)

    def forward(self, x):
        return self.decoder(self.encoder(x))


def half():
    return torch.autocast("cpu", dtype=torch.bfloat16)


def pretrain(ae, data, epochs):
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    opt = torch.optim.Adam(ae.parameters(), lr=1e-2)
    for epoch in range(epochs):
        for x in data.split(16):
            x_masked = x * (torch.rand_like(x) > 0.3)
            opt.zero_grad()
            with half():
                loss = (ae(x_masked) - x).pow(2).mean()
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
        print("pretrain", epoch, loss.item())


def finetune(ae, data, labels, epochs):
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    classifier = nn.Sequential(ae.encoder, nn.Linear(4, 2))
    opt = torch.optim.Adam(classifier.parameters(), lr=1e-2)
    for epoch in range(epochs):
        for x, y in zip(data.split(16), labels.split(16)):
            opt.zero_grad()
            with half():
                loss = nn.functional.cross_entropy(classifier(x), y)
            scaler.scale(loss).backward()
            scaler.step(opt)  # expect: GL303
        print("finetune", epoch, loss.item())


torch.manual_seed(303)
data = torch.randn(96, 4) @ torch.randn(4, 16)
labels = (data[:, 0] > 0).long()
autoencoder = Autoencoder()
pretrain(autoencoder, data, epochs=2)
finetune(autoencoder, data, labels, epochs=2)
