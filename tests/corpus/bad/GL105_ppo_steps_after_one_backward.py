"""BUG: PPO's K optimisation epochs repeat only optimizer.step(): the one backward before them is applied K times."""
from collections import namedtuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

Batch = namedtuple("Batch", "obs act logp ret adv")


class ActorCritic(nn.Module):
    def __init__(self, obs_dim=3, act_dim=1):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh())
        self.mu = nn.Linear(32, act_dim)
        self.v = nn.Linear(32, 1)
        self.log_std = nn.Parameter(torch.zeros(act_dim))

    def forward(self, obs):
        h = self.body(obs)
        return Normal(self.mu(h), self.log_std.exp()), self.v(h).squeeze(-1)


@torch.no_grad()
def collect(ac, n, g):
    obs = torch.randn(n, 3, generator=g)
    dist, value = ac(obs)
    act = dist.sample()
    reward = -(act.squeeze(1) - obs.sum(1)).pow(2)
    adv = reward - value
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    return Batch(obs, act, dist.log_prob(act).sum(1), reward, adv)


class PPO:
    K = 3
    clip = 0.2

    def __init__(self, ac):
        self.ac = ac
        self.optimizer = torch.optim.Adam(ac.parameters(), lr=3e-4)

    def loss(self, b):
        dist, value = self.ac(b.obs)
        ratio = (dist.log_prob(b.act).sum(1) - b.logp).exp()
        surrogate = torch.min(ratio * b.adv, ratio.clamp(1 - self.clip, 1 + self.clip) * b.adv)
        return -surrogate.mean() + 0.5 * F.mse_loss(value, b.ret) - 0.01 * dist.entropy().mean()

    def update(self, b):
        self.optimizer.zero_grad()
        loss = self.loss(b)
        loss.backward()
        for _ in range(self.K):
            self.optimizer.step()  # expect: GL105
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(17)
    g = torch.Generator().manual_seed(18)
    agent = PPO(ActorCritic())
    for epoch in range(2):
        for it in range(5):
            value = agent.update(collect(agent.ac, 64, g))
        print("epoch", epoch, "loss", value)
