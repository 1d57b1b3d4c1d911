"""OK: five critic updates per generator update, each cleared before its backward; clamping weights is not clipping gradients."""
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
gen = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
opt_c = torch.optim.RMSprop(critic.parameters(), lr=5e-4)
opt_g = torch.optim.RMSprop(gen.parameters(), lr=5e-4)
one = torch.tensor(1.0)
n_critic, clamp = 5, 0.05

for iteration in range(20):
    for p in critic.parameters():
        p.requires_grad_(True)
    for _ in range(n_critic):
        for p in critic.parameters():
            p.data.clamp_(-clamp, clamp)
        critic.zero_grad()
        real = torch.randn(64, 2) * 0.3 + torch.tensor([1.0, -1.0])
        score_real = critic(real).mean()
        score_real.backward(-one)
        with torch.no_grad():
            fake = gen(torch.randn(64, 3))
        score_fake = critic(fake).mean()
        score_fake.backward(one)
        opt_c.step()

    for p in critic.parameters():
        p.requires_grad_(False)
    gen.zero_grad()
    score = critic(gen(torch.randn(64, 3))).mean()
    score.backward(-one)
    opt_g.step()
print("distance", (score_real - score_fake).item())
