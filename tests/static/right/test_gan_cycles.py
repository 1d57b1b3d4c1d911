"""What the other network's backward leaves behind is cleared before it can be stepped on."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "dcgan tutorial": """\
import torch
import torch.nn as nn
import torch.optim as optim

netD = nn.Sequential(nn.Linear(64, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
netG = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 64))
criterion = nn.BCELoss()
optimizerD = optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
for epoch in range(5):
    for i, data in enumerate(dataloader, 0):
        netD.zero_grad()
        b_size = data.size(0)
        label = torch.full((b_size,), 1.0)
        output = netD(data).view(-1)
        errD_real = criterion(output, label)
        errD_real.backward()
        noise = torch.randn(b_size, 16)
        fake = netG(noise)
        label.fill_(0.0)
        output = netD(fake.detach()).view(-1)
        errD_fake = criterion(output, label)
        errD_fake.backward()
        errD = errD_real + errD_fake
        optimizerD.step()
        netG.zero_grad()
        label.fill_(1.0)
        output = netD(fake).view(-1)
        errG = criterion(output, label)
        errG.backward()
        optimizerG.step()
""",
    "pytorch-gan collection": """\
import torch


def main(generator, discriminator, dataloader, opt):
    adversarial_loss = torch.nn.BCELoss()
    optimizer_G = torch.optim.Adam(generator.parameters(), lr=opt.lr)
    optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=opt.lr)
    for epoch in range(opt.n_epochs):
        for i, (imgs, _) in enumerate(dataloader):
            valid = torch.ones(imgs.size(0), 1)
            fake = torch.zeros(imgs.size(0), 1)
            optimizer_G.zero_grad()
            z = torch.randn(imgs.shape[0], opt.latent_dim)
            gen_imgs = generator(z)
            g_loss = adversarial_loss(discriminator(gen_imgs), valid)
            g_loss.backward()
            optimizer_G.step()
            optimizer_D.zero_grad()
            real_loss = adversarial_loss(discriminator(imgs), valid)
            fake_loss = adversarial_loss(discriminator(gen_imgs.detach()), fake)
            d_loss = (real_loss + fake_loss) / 2
            d_loss.backward()
            optimizer_D.step()
""",
    "pix2pix model class with a freeze helper": """\
import itertools

import torch


class BaseModel:
    def set_requires_grad(self, nets, requires_grad=False):
        if not isinstance(nets, list):
            nets = [nets]
        for net in nets:
            if net is not None:
                for param in net.parameters():
                    param.requires_grad = requires_grad


class CycleGANModel(BaseModel):
    def __init__(self, make):
        self.netG_A, self.netG_B = make.generator(), make.generator()
        self.netD_A, self.netD_B = make.discriminator(), make.discriminator()
        self.optimizer_G = torch.optim.Adam(
            itertools.chain(self.netG_A.parameters(), self.netG_B.parameters()), lr=2e-4
        )
        self.optimizer_D = torch.optim.Adam(
            itertools.chain(self.netD_A.parameters(), self.netD_B.parameters()), lr=2e-4
        )

    def forward(self):
        self.fake_B = self.netG_A(self.real_A)
        self.fake_A = self.netG_B(self.real_B)

    def backward_D_basic(self, netD, real, fake):
        loss_D = (netD(fake.detach()).pow(2).mean() + (netD(real) - 1).pow(2).mean()) * 0.5
        loss_D.backward()
        return loss_D

    def backward_G(self):
        loss_A = (self.netD_A(self.fake_B) - 1).pow(2).mean()
        loss_B = (self.netD_B(self.fake_A) - 1).pow(2).mean()
        self.loss_G = loss_A + loss_B
        self.loss_G.backward()

    def optimize_parameters(self):
        self.forward()
        self.set_requires_grad([self.netD_A, self.netD_B], False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()
        self.set_requires_grad([self.netD_A, self.netD_B], True)
        self.optimizer_D.zero_grad()
        self.backward_D_basic(self.netD_A, self.real_B, self.fake_B)
        self.backward_D_basic(self.netD_B, self.real_A, self.fake_A)
        self.optimizer_D.step()


def train(model, dataset):
    for data in dataset:
        model.real_A, model.real_B = data
        model.optimize_parameters()
""",
    "frozen by requires_grad_": """\
import torch

G, D = torch.nn.Linear(8, 4), torch.nn.Linear(4, 1)
opts = {"G": torch.optim.Adam(G.parameters()), "D": torch.optim.Adam(D.parameters())}
for real in loader:
    z = torch.randn(len(real), 8)
    D.requires_grad_(True)
    (D(G(z).detach()).mean() - D(real).mean()).backward()
    opts["D"].step()
    opts["D"].zero_grad()
    D.requires_grad_(False)
    (-D(G(z)).mean()).backward()
    opts["G"].step()
    opts["G"].zero_grad()
""",
    "sac with detached actions": """\
import torch
import torch.nn.functional as F


class SAC:
    def __init__(self, actor, critic, lr):
        self.actor, self.critic = actor, critic
        self.actor_optim = torch.optim.Adam(actor.parameters(), lr=lr)
        self.critic_optim = torch.optim.Adam(critic.parameters(), lr=lr)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=lr)

    def update_parameters(self, memory, batch_size):
        state, action, reward, next_state = memory.sample(batch_size)
        with torch.no_grad():
            target = reward + self.critic(next_state, self.actor(next_state))
        qf_loss = F.mse_loss(self.critic(state, action), target)
        self.critic_optim.zero_grad()
        qf_loss.backward()
        self.critic_optim.step()

        pi, log_pi = self.actor.sample(state)
        policy_loss = (self.log_alpha.exp().detach() * log_pi - self.critic(state, pi)).mean()
        self.actor_optim.zero_grad()
        policy_loss.backward()
        self.actor_optim.step()

        alpha_loss = -(self.log_alpha * (log_pi - 3.0).detach()).mean()
        self.alpha_optim.zero_grad()
        alpha_loss.backward()
        self.alpha_optim.step()
""",
    "zero both at the top and detach": """\
import torch


def train(encoder, decoder, adversary, loader):
    opt_ae = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()))
    opt_adv = torch.optim.Adam(adversary.parameters())
    for x in loader:
        for opt in (opt_ae, opt_adv):
            opt.zero_grad()
        code = encoder(x)
        adv_loss = torch.nn.functional.softplus(-adversary(code.detach())).mean()
        adv_loss.backward()
        opt_adv.step()
        loss = (decoder(code) - x).pow(2).mean()
        loss.backward()
        opt_ae.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
