"""OK: SAC: twin critics, policy and temperature have three optimizers; the policy's spill into the critics is cleared next time."""
import torch
from torch import nn

torch.manual_seed(0)
q1, q2, t1, t2 = (nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1)) for _ in range(4))
t1.load_state_dict(q1.state_dict())
t2.load_state_dict(q2.state_dict())
policy = nn.Linear(3, 2)
log_alpha = torch.zeros(1, requires_grad=True)
q_optim = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=3e-3)
pi_optim = torch.optim.Adam(policy.parameters(), lr=3e-3)
alpha_optim = torch.optim.Adam([log_alpha], lr=3e-3)


def sample(s):
    mean, log_std = policy(s).chunk(2, -1)
    normal = torch.distributions.Normal(mean, log_std.clamp(-5, 1).exp())
    u = normal.rsample()
    a = torch.tanh(u)
    return a, normal.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)


def q(net, s, a):
    return net(torch.cat([s, a], -1))


for update in range(40):
    s = torch.randn(32, 3)
    a = torch.rand(32, 1) * 2 - 1
    r = -(a - s[:, 1:2]).abs()
    s2 = s + 0.1
    with torch.no_grad():
        a2, logp2 = sample(s2)
        y = r + 0.9 * (torch.min(q(t1, s2, a2), q(t2, s2, a2)) - log_alpha.exp() * logp2)
    q_loss = (q(q1, s, a) - y).pow(2).mean() + (q(q2, s, a) - y).pow(2).mean()
    q_optim.zero_grad()
    q_loss.backward()
    q_optim.step()

    new_a, logp = sample(s)
    pi_loss = (log_alpha.exp().detach() * logp - torch.min(q(q1, s, new_a), q(q2, s, new_a))).mean()
    pi_optim.zero_grad()
    pi_loss.backward()
    pi_optim.step()

    alpha_loss = -(log_alpha * (logp - 1.0).detach()).mean()
    alpha_optim.zero_grad()
    alpha_loss.backward()
    alpha_optim.step()
    with torch.no_grad():
        for net, tgt in ((q1, t1), (q2, t2)):
            for p, tp in zip(net.parameters(), tgt.parameters()):
                tp.lerp_(p, 0.005)
print(q_loss.item(), pi_loss.item(), log_alpha.item())
