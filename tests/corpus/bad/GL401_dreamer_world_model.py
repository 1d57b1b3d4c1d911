"""BUG: the actor's loss fills the world model too, which is cleared only after its own step: the next one uses both."""
import torch
from torch import nn
from torch.nn import functional as F


class WorldModel(nn.Module):
    def __init__(self, obs=4, act=2, hid=24):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs + act, hid), nn.ELU())
        self.next_obs = nn.Linear(hid, obs)
        self.reward = nn.Linear(hid, 1)

    def forward(self, obs, act):
        h = self.trunk(torch.cat([obs, act], -1))
        return obs + self.next_obs(h), self.reward(h).squeeze(-1)


class Dreamer:
    def __init__(self):
        self.wm = WorldModel()
        self.actor = nn.Sequential(nn.Linear(4, 24), nn.ELU(), nn.Linear(24, 2), nn.Tanh())
        self.model_opt = torch.optim.Adam(self.wm.parameters(), lr=6e-3)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=8e-4)

    def train_model(self, obs, act, nxt, rew):
        pred, rhat = self.wm(obs, act)
        loss = F.mse_loss(pred, nxt) + F.mse_loss(rhat, rew)
        loss.backward()
        self.model_opt.step()  # expect: GL401
        self.model_opt.zero_grad()  # expect: GL401
        return loss.item()

    def train_actor(self, obs, horizon=4, discount=0.95):
        value = 0.0
        for h in range(horizon):
            obs, reward = self.wm(obs, self.actor(obs))
            value = value + discount**h * reward
        loss = -value.mean()
        self.actor_opt.zero_grad()
        loss.backward()
        self.actor_opt.step()
        return loss.item()


def rollout(n):
    obs = torch.randn(n, 4)
    act = torch.rand(n, 2) * 2 - 1
    nxt = 0.9 * obs + 0.1 * torch.cat([act, -act], 1)
    return obs, act, nxt, -nxt.pow(2).sum(1)


if __name__ == "__main__":
    torch.manual_seed(4012)
    agent = Dreamer()
    for epoch in range(2):
        for _ in range(8):
            batch = rollout(32)
            model_loss = agent.train_model(*batch)
            actor_loss = agent.train_actor(batch[0])
        print(f"epoch {epoch} model {model_loss:.3f} actor {actor_loss:.3f}")
