"""OK: PPO goes over one rollout several times; every minibatch clears, differentiates, clips and steps, and the KL stop leaves before."""
import torch
from torch import nn
from torch.distributions import Normal


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
        self.v = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
        self.log_std = nn.Parameter(torch.zeros(1))

    def dist(self, obs):
        return Normal(self.pi(obs), self.log_std.exp())


torch.manual_seed(0)
ac = ActorCritic()
optimizer = torch.optim.Adam(ac.parameters(), lr=5e-3, eps=1e-5)
updates = stops = 0
for iteration in range(5):
    with torch.no_grad():
        obs = torch.randn(128, 3)
        dist = ac.dist(obs)
        act = dist.sample()
        logp_old = dist.log_prob(act)
        returns = -(act - obs[:, :1]).pow(2)
        adv = returns - ac.v(obs)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)

    for epoch in range(4):
        kl = 0.0
        for idx in torch.randperm(128).split(32):
            d = ac.dist(obs[idx])
            logp = d.log_prob(act[idx])
            ratio = (logp - logp_old[idx]).exp()
            with torch.no_grad():
                kl = (ratio - 1 - (logp - logp_old[idx])).mean().item()
            if kl > 0.03:
                break
            surrogate = torch.min(ratio * adv[idx], ratio.clamp(0.8, 1.2) * adv[idx])
            value = nn.functional.mse_loss(ac.v(obs[idx]), returns[idx])
            loss = -surrogate.mean() + 0.5 * value - 0.01 * d.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(ac.parameters(), 0.5)
            optimizer.step()
            updates += 1
        if kl > 0.03:
            stops += 1
            break
print("updates", updates, "early stops", stops, "return", returns.mean().item())
