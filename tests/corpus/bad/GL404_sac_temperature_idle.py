"""BUG: SAC's temperature gets its zero_grad() and its backward(), but alpha_optim.step() is missing."""
import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 24), nn.ReLU(), nn.Linear(24, o))


class SAC:
    def __init__(self, obs=3, act=1):
        self.actor = mlp(obs, 2 * act)
        self.q = mlp(obs + act, 1)
        self.q_target = copy.deepcopy(self.q).requires_grad_(False)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.target_entropy = -float(act)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.q_optim = torch.optim.Adam(self.q.parameters(), lr=1e-3)
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=1e-3)  # expect: GL404

    def pi(self, obs):
        mu, log_std = self.actor(obs).chunk(2, -1)
        dist = Normal(mu, log_std.clamp(-5, 2).exp())
        u = dist.rsample()
        a = torch.tanh(u)
        return a, (dist.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)).sum(1, keepdim=True)

    def update(self, obs, act, rew, nxt, gamma=0.9, tau=0.05):
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            a2, logp2 = self.pi(nxt)
            target = rew + gamma * (self.q_target(torch.cat([nxt, a2], 1)) - alpha * logp2)
        q_loss = F.mse_loss(self.q(torch.cat([obs, act], 1)), target)
        self.q_optim.zero_grad()
        q_loss.backward()
        self.q_optim.step()

        a, logp = self.pi(obs)
        actor_loss = (alpha * logp - self.q(torch.cat([obs, a], 1))).mean()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()

        alpha_loss = -(self.log_alpha.exp() * (logp.detach() + self.target_entropy)).mean()
        self.alpha_optim.zero_grad()
        alpha_loss.backward()  # expect: GL404

        with torch.no_grad():
            for t, s in zip(self.q_target.parameters(), self.q.parameters()):
                t.lerp_(s, tau)
        return q_loss.item()


torch.manual_seed(404)
agent = SAC()
for epoch in range(2):
    for _ in range(8):
        obs, act = torch.randn(32, 3), torch.rand(32, 1) * 2 - 1
        rew = -(act - obs[:, :1].tanh()).pow(2)
        value = agent.update(obs, act, rew, torch.randn(32, 3))
    print(f"epoch {epoch} q loss {value:.4f} alpha {agent.log_alpha.exp().item():.3f}")
