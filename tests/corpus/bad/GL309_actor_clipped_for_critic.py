"""BUG: before the critic's step it is the actor that is clipped."""
import torch
from torch import nn

actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
opt_a = torch.optim.Adam(actor.parameters(), lr=1e-3)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(12):
    s = torch.randn(16, 4)
    ret = torch.randn(16, 1)
    v_loss = (critic(s) - ret).pow(2).mean()
    opt_c.zero_grad()
    v_loss.backward()
    nn.utils.clip_grad_norm_(actor.parameters(), 0.5)  # expect: GL309
    opt_c.step()
    adv = (ret - critic(s)).detach().squeeze(-1)
    dist = torch.distributions.Categorical(logits=actor(s))
    a = dist.sample()
    a_loss = -(dist.log_prob(a) * adv).mean()
    opt_a.zero_grad()
    a_loss.backward()
    nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
    opt_a.step()
