"""OK: TD3 updates the policy every second critic update; backward and step are both inside the guard, so nothing accumulates."""
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = (nn.Sequential(nn.Linear(3, 20), nn.ReLU(), nn.Linear(20, 1)) for _ in range(2))

    def forward(self, s, u):
        x = torch.cat([s, u], 1)
        return self.a(x), self.b(x)

    def Q1(self, s, u):
        return self.a(torch.cat([s, u], 1))


torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(2, 20), nn.ReLU(), nn.Linear(20, 1), nn.Tanh())
critic = Twin()
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
for target in (actor_target, critic_target):
    target.requires_grad_(False)
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-4)

total_it, policy_freq = 0, 2
while total_it < 40:
    total_it += 1
    s, u = torch.randn(32, 2), torch.rand(32, 1) * 2 - 1
    reward, nxt = -s.pow(2).sum(1, keepdim=True) - u.pow(2), s + 0.1 * u
    with torch.no_grad():
        noise = (torch.randn_like(u) * 0.2).clamp(-0.5, 0.5)
        nu = (actor_target(nxt) + noise).clamp(-1, 1)
        target_Q = reward + 0.9 * torch.min(*critic_target(nxt, nu))
    q1, q2 = critic(s, u)
    critic_loss = F.mse_loss(q1, target_Q) + F.mse_loss(q2, target_Q)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    if total_it % policy_freq == 0:
        actor_loss = -critic.Q1(s, actor(s)).mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
        for net, tgt in ((critic, critic_target), (actor, actor_target)):
            for p, tp in zip(net.parameters(), tgt.parameters()):
                tp.data.copy_(0.005 * p.data + 0.995 * tp.data)
print(critic_loss.item(), actor_loss.item())
