"""OK: several epochs of shuffled minibatches on one rollout; the KL test stops the actor before its backward, the critic goes on by itself."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Normal


@dataclass
class Cfg:
    iterations: int = 5
    horizon: int = 128
    minibatch: int = 32
    update_epochs: int = 4
    clip: float = 0.2
    target_kl: float = 0.02
    ent: float = 1e-3
    seed: int = 2


def layer_init(layer, std=1.0):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.zeros_(layer.bias)
    return layer


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(layer_init(nn.Linear(3, 24)), nn.Tanh(), layer_init(nn.Linear(24, 1), 0.01))
        self.logstd = nn.Parameter(torch.zeros(1))

    def dist(self, obs):
        return Normal(self.mean(obs), self.logstd.exp())


def collect(actor, n):
    obs = torch.randn(n, 3)
    with torch.no_grad():
        dist = actor.dist(obs)
        act = dist.sample()
        logp = dist.log_prob(act).sum(-1)
    reward = -(act.squeeze(-1) - obs[:, 0] + 0.5 * obs[:, 1]).pow(2)
    return obs, act, logp, reward


def main(cfg):
    torch.manual_seed(cfg.seed)
    actor = Actor()
    critic = nn.Sequential(layer_init(nn.Linear(3, 24)), nn.Tanh(), layer_init(nn.Linear(24, 1)))
    pi_opt = torch.optim.Adam(actor.parameters(), lr=1e-2)
    vf_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
    anneal = torch.optim.lr_scheduler.LinearLR(pi_opt, 1.0, 0.2, total_iters=cfg.iterations)
    for iteration in range(cfg.iterations):
        obs, act, old_logp, reward = collect(actor, cfg.horizon)
        with torch.no_grad():
            adv = reward - critic(obs).squeeze(-1)
        stopped, clipfracs, pi_updates = False, [], 0
        for epoch in range(cfg.update_epochs):
            order = torch.randperm(cfg.horizon)
            for start in range(0, cfg.horizon, cfg.minibatch):
                mb = order[start:start + cfg.minibatch]
                if not stopped:
                    dist = actor.dist(obs[mb])
                    logratio = dist.log_prob(act[mb]).sum(-1) - old_logp[mb]
                    ratio = logratio.exp()
                    with torch.no_grad():
                        approx_kl = ((ratio - 1) - logratio).mean().item()
                        clipfracs.append(((ratio - 1).abs() > cfg.clip).float().mean().item())
                    if approx_kl > 1.5 * cfg.target_kl:
                        stopped = True
                    else:
                        a = (adv[mb] - adv[mb].mean()) / (adv[mb].std() + 1e-8)
                        pg = -torch.min(ratio * a, ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * a).mean()
                        pi_opt.zero_grad()
                        (pg - cfg.ent * dist.entropy().mean()).backward()
                        nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
                        pi_opt.step()
                        pi_updates += 1
                vf_opt.zero_grad()
                v_loss = 0.5 * (critic(obs[mb]).squeeze(-1) - reward[mb]).pow(2).mean()
                v_loss.backward()
                nn.utils.clip_grad_norm_(critic.parameters(), 0.5)
                vf_opt.step()
        anneal.step()
        print(f"it {iteration} reward {reward.mean():.3f} actor updates {pi_updates} stopped {stopped} clip {sum(clipfracs) / len(clipfracs):.2f} v {v_loss.item():.3f}")


if __name__ == "__main__":
    main(Cfg())
