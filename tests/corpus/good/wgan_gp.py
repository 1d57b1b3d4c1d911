"""OK: the gradient penalty uses autograd.grad(create_graph=True); the generator only trains every n_critic-th batch, by design."""
import torch
from torch import autograd, nn


def gradient_penalty(D, real, fake):
    alpha = torch.rand(real.size(0), 1)
    between = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    score = D(between)
    grads = autograd.grad(score, between, grad_outputs=torch.ones_like(score), create_graph=True, retain_graph=True)[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
D = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
optimizer_G = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
optimizer_D = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.0, 0.9))
data = torch.randn(320, 2) @ torch.tensor([[1.0, 0.4], [0.0, 0.5]])

for epoch in range(3):
    for i, real in enumerate(data.split(32)):
        optimizer_D.zero_grad()
        fake = G(torch.randn(real.size(0), 4))
        d_loss = D(fake.detach()).mean() - D(real).mean() + 10 * gradient_penalty(D, real, fake.detach())
        d_loss.backward()
        optimizer_D.step()
        optimizer_G.zero_grad()
        if i % 5 == 0:
            g_loss = -D(G(torch.randn(real.size(0), 4))).mean()
            g_loss.backward()
            optimizer_G.step()
print(d_loss.item(), g_loss.item())
