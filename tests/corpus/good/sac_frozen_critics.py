"""OK: the critics are frozen while the policy is trained."""
import copy
import itertools
import torch
from torch import nn


class SAC:
    def __init__(self):
        self.pi = nn.Linear(3, 2)
        self.q1, self.q2 = nn.Linear(4, 1), nn.Linear(4, 1)
        self.q1t, self.q2t = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        for p in itertools.chain(self.q1t.parameters(), self.q2t.parameters()):
            p.requires_grad = False
        self.q_params = list(itertools.chain(self.q1.parameters(), self.q2.parameters()))
        self.pi_opt = torch.optim.Adam(self.pi.parameters(), lr=1e-3)
        self.q_opt = torch.optim.Adam(self.q_params, lr=1e-3)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.a_opt = torch.optim.Adam([self.log_alpha], lr=1e-3)

    def sample(self, s):
        mu, ls = self.pi(s).chunk(2, -1)
        d = torch.distributions.Normal(mu, ls.clamp(-3, 1).exp())
        a = d.rsample()
        return a, d.log_prob(a)

    def update(self, s, a, r, s2):
        with torch.no_grad():
            a2, lp2 = self.sample(s2)
            x2 = torch.cat([s2, a2], -1)
            y = r + 0.99 * (torch.min(self.q1t(x2), self.q2t(x2)) - self.log_alpha.exp() * lp2)
        x = torch.cat([s, a], -1)
        q_loss = (self.q1(x) - y).square().mean() + (self.q2(x) - y).square().mean()
        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()
        for p in self.q_params:
            p.requires_grad = False
        ap, lp = self.sample(s)
        xp = torch.cat([s, ap], -1)
        pi_loss = (self.log_alpha.exp().detach() * lp - torch.min(self.q1(xp), self.q2(xp))).mean()
        self.pi_opt.zero_grad()
        pi_loss.backward()
        self.pi_opt.step()
        for p in self.q_params:
            p.requires_grad = True
        a_loss = -(self.log_alpha * (lp + 1.0).detach()).mean()
        self.a_opt.zero_grad()
        a_loss.backward()
        self.a_opt.step()
        with torch.no_grad():
            for p, t in zip(self.q_params, itertools.chain(self.q1t.parameters(), self.q2t.parameters())):
                t.data.mul_(0.99).add_(0.01 * p.data)


agent = SAC()
for _ in range(6):
    agent.update(torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 1), torch.randn(8, 3))
