"""OK: R1 for D and a path-length penalty for G are extra updates every few iterations, each with its own clear and step."""
import torch
from torch import autograd, nn
from torch.nn import functional as F


def requires_grad(model, flag=True):
    for p in model.parameters():
        p.requires_grad = flag


def d_r1_loss(real_pred, real_img):
    grad_real, = autograd.grad(outputs=real_pred.sum(), inputs=real_img, create_graph=True)
    return grad_real.pow(2).reshape(grad_real.shape[0], -1).sum(1).mean()


torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 6))
discriminator = nn.Sequential(nn.Linear(6, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
g_optim = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.0, 0.99))
d_optim = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.0, 0.99))
d_every, g_every, r1_gamma = 4, 3, 10
mean_path = torch.zeros(())

for i in range(24):
    real_img = torch.randn(16, 6) + 1
    requires_grad(generator, False)
    requires_grad(discriminator, True)
    fake_img = generator(torch.randn(16, 4))
    d_loss = F.softplus(discriminator(fake_img)).mean() + F.softplus(-discriminator(real_img)).mean()
    discriminator.zero_grad()
    d_loss.backward()
    d_optim.step()

    if i % d_every == 0:
        real_img.requires_grad = True
        real_pred = discriminator(real_img)
        r1_loss = d_r1_loss(real_pred, real_img)
        discriminator.zero_grad()
        (r1_gamma / 2 * r1_loss * d_every + 0 * real_pred[0]).backward()
        d_optim.step()

    requires_grad(generator, True)
    requires_grad(discriminator, False)
    g_loss = F.softplus(-discriminator(generator(torch.randn(16, 4)))).mean()
    generator.zero_grad()
    g_loss.backward()
    g_optim.step()

    if i % g_every == 0:
        latent = torch.randn(8, 4, requires_grad=True)
        out = generator(latent)
        jac, = autograd.grad((out * torch.randn_like(out)).sum(), latent, create_graph=True)
        lengths = jac.pow(2).sum(1).sqrt()
        mean_path = mean_path + 0.01 * (lengths.mean().detach() - mean_path)
        generator.zero_grad()
        (2 * (lengths - mean_path).pow(2).mean()).backward()
        g_optim.step()
print(d_loss.item(), r1_loss.item(), g_loss.item(), mean_path.item())
