"""OK: CycleGAN's optimize_parameters freezes the discriminators for the generator pass and clears each optimizer before use."""
import itertools

import torch
from torch import nn


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 16), nn.ReLU(), nn.Linear(16, o))


class CycleGANModel:
    def __init__(self):
        self.netG_A, self.netG_B = mlp(3, 3), mlp(3, 3)
        self.netD_A, self.netD_B = mlp(3, 1), mlp(3, 1)
        self.optimizer_G = torch.optim.Adam(itertools.chain(self.netG_A.parameters(), self.netG_B.parameters()), 1e-3)
        self.optimizer_D = torch.optim.Adam(itertools.chain(self.netD_A.parameters(), self.netD_B.parameters()), 1e-3)
        self.optimizers = [self.optimizer_G, self.optimizer_D]
        self.schedulers = [torch.optim.lr_scheduler.StepLR(o, 2) for o in self.optimizers]

    @staticmethod
    def set_requires_grad(nets, requires_grad):
        for net in nets:
            for param in net.parameters():
                param.requires_grad = requires_grad

    def set_input(self, a, b):
        self.real_A, self.real_B = a, b

    def forward(self):
        self.fake_B = self.netG_A(self.real_A)
        self.rec_A = self.netG_B(self.fake_B)
        self.fake_A = self.netG_B(self.real_B)
        self.rec_B = self.netG_A(self.fake_A)

    def backward_G(self):
        gan = (self.netD_A(self.fake_B) - 1).pow(2).mean() + (self.netD_B(self.fake_A) - 1).pow(2).mean()
        cycle = (self.rec_A - self.real_A).abs().mean() + (self.rec_B - self.real_B).abs().mean()
        self.loss_G = gan + 10 * cycle
        self.loss_G.backward()

    def backward_D_basic(self, netD, real, fake):
        loss_D = ((netD(real) - 1).pow(2).mean() + netD(fake.detach()).pow(2).mean()) * 0.5
        loss_D.backward()
        return loss_D

    def optimize_parameters(self):
        self.forward()
        self.set_requires_grad([self.netD_A, self.netD_B], False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()
        self.set_requires_grad([self.netD_A, self.netD_B], True)
        self.optimizer_D.zero_grad()
        self.loss_D_A = self.backward_D_basic(self.netD_A, self.real_B, self.fake_B)
        self.loss_D_B = self.backward_D_basic(self.netD_B, self.real_A, self.fake_A)
        self.optimizer_D.step()


torch.manual_seed(0)
model = CycleGANModel()
for epoch in range(4):
    for a, b in zip(torch.randn(6, 16, 3), torch.randn(6, 16, 3) + 2):
        model.set_input(a, b)
        model.optimize_parameters()
    for scheduler in model.schedulers:
        scheduler.step()
print(model.loss_G.item(), model.loss_D_A.item(), model.loss_D_B.item())
