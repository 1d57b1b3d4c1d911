"""OK: policy, value and entropy terms of a shared trunk are one loss over a rollout; the returns are computed without a graph."""
import argparse

import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    """Vectorised: walk right to the end; a reward there, a small cost elsewhere."""

    def __init__(self, n, length=6):
        self.n, self.length = n, length
        self.pos, self.time = torch.zeros(n, dtype=torch.long), torch.zeros(n, dtype=torch.long)

    def observe(self):
        return nn.functional.one_hot(self.pos, self.length).float()

    def step(self, action):
        self.pos = (self.pos + 2 * action - 1).clamp(0, self.length - 1)
        self.time += 1
        goal = self.pos == self.length - 1
        done = goal | (self.time >= 20)
        reward = torch.where(goal, 1.0, -0.02)
        self.pos[done], self.time[done] = 0, 0
        return self.observe(), reward, done.float()


class Policy(nn.Module):
    def __init__(self, obs, hidden=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.actor, self.critic = nn.Linear(hidden, 2), nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.trunk(x)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


class RolloutStorage:
    def __init__(self):
        self.clear()

    def clear(self):
        self.log_probs, self.values, self.entropies, self.rewards, self.dones = [], [], [], [], []

    def insert(self, dist, action, value, reward, done):
        self.log_probs.append(dist.log_prob(action))
        self.entropies.append(dist.entropy())
        self.values.append(value)
        self.rewards.append(reward)
        self.dones.append(done)

    @torch.no_grad()
    def gae(self, last_value, gamma, lam):
        advantages, running, following = [], torch.zeros_like(last_value), last_value
        for reward, done, value in zip(reversed(self.rewards), reversed(self.dones), reversed(self.values)):
            delta = reward + gamma * following * (1 - done) - value
            running = delta + gamma * lam * (1 - done) * running
            following = value
            advantages.insert(0, running)
        return torch.stack(advantages)


def update(agent, optimizer, storage, last_value, args):
    advantages = storage.gae(last_value, args.gamma, args.lam)
    values = torch.stack(storage.values)
    returns = advantages + values.detach()
    policy_loss = -(torch.stack(storage.log_probs) * advantages).mean()
    value_loss = (returns - values).pow(2).mean()
    entropy = torch.stack(storage.entropies).mean()
    optimizer.zero_grad()
    (policy_loss + args.vf * value_loss - args.ent * entropy).backward()
    norm = nn.utils.clip_grad_norm_(agent.parameters(), args.max_norm)
    optimizer.step()
    storage.clear()
    return policy_loss.item(), value_loss.item(), entropy.item(), norm.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--lam", type=float, default=0.95)
    parser.add_argument("--vf", type=float, default=0.5)
    parser.add_argument("--ent", type=float, default=0.01)
    parser.add_argument("--max-norm", type=float, default=0.5)
    args = parser.parse_args()
    torch.manual_seed(0)
    env = Corridor(16)
    agent, storage = Policy(env.length), RolloutStorage()
    optimizer = torch.optim.Adam(agent.parameters(), lr=7e-3, eps=1e-5)
    obs, mean_reward = env.observe(), 0.0
    for it in range(args.updates):
        for _ in range(8):
            dist, value = agent(obs)
            action = dist.sample()
            obs, reward, done = env.step(action)
            storage.insert(dist, action, value, reward, done)
            mean_reward = 0.99 * mean_reward + 0.01 * reward.mean().item()
        with torch.no_grad():
            last_value = agent(obs)[1]
        stats = update(agent, optimizer, storage, last_value, args)
        if (it + 1) % 10 == 0:
            print(it + 1, "reward", round(mean_reward, 3), [round(s, 3) for s in stats])


main()
