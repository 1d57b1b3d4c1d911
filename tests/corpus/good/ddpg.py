"""OK: the actor's backward flows through the critic and fills it; the critic is cleared before its own backward each time."""
import copy

import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], -1))


class DDPG:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1), nn.Tanh())
        self.critic = Critic()
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3, weight_decay=1e-2)

    def train(self, s, a, r, s2, tau=0.01):
        target_q = self.critic_target(s2, self.actor_target(s2))
        target_q = r + (0.95 * target_q).detach()
        critic_loss = nn.functional.mse_loss(self.critic(s, a), target_q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        actor_loss = -self.critic(s, self.actor(s)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        for net, target in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
            for p, q in zip(net.parameters(), target.parameters()):
                q.data.copy_(tau * p.data + (1 - tau) * q.data)
        return critic_loss.item(), actor_loss.item()


torch.manual_seed(0)
agent = DDPG()
for update in range(60):
    s = torch.randn(32, 3)
    a = torch.rand(32, 1) * 2 - 1
    r = -(a - s[:, :1].tanh()).pow(2)
    out = agent.train(s, a, r, s + 0.1 * a)
print("critic, actor", out)
