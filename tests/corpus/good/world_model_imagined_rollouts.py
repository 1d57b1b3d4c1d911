"""OK: world model, actor and value net train in turn; the actor's backward runs through the frozen world model and value net."""
import collections
import contextlib
import random

import torch
from torch import nn


def mlp(i, o, width=32):
    return nn.Sequential(nn.Linear(i, width), nn.ELU(), nn.Linear(width, width), nn.ELU(), nn.Linear(width, o))


@contextlib.contextmanager
def frozen(*modules):
    flags = [[p.requires_grad for p in m.parameters()] for m in modules]
    try:
        for m in modules:
            m.requires_grad_(False)
        yield
    finally:
        for m, saved in zip(modules, flags):
            for p, flag in zip(m.parameters(), saved):
                p.requires_grad_(flag)


class PointMass:
    def reset(self):
        self.state = torch.randn(2)
        return self.state

    def step(self, action):
        self.state = 0.9 * self.state + 0.3 * action.clamp(-1, 1)
        return self.state, -self.state.pow(2).sum()


class Dreamer:
    def __init__(self, horizon=5, gamma=0.95):
        self.model, self.reward = mlp(4, 2), mlp(2, 1)
        self.actor, self.value = mlp(2, 2), mlp(2, 1)
        self.horizon, self.gamma = horizon, gamma
        self.model_opt = torch.optim.Adam([*self.model.parameters(), *self.reward.parameters()], 3e-3)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), 2e-3)
        self.value_opt = torch.optim.Adam(self.value.parameters(), 3e-3)
        self.buffer = collections.deque(maxlen=500)

    def act(self, state):
        return torch.tanh(self.actor(state))

    def gather(self, env, steps):
        state, total = env.reset(), 0.0
        for _ in range(steps):
            with torch.no_grad():
                action = self.act(state) + 0.3 * torch.randn(2)
            following, reward = env.step(action)
            self.buffer.append((state, action, following, reward.view(1)))
            state, total = following, total + reward.item()
        return total / steps

    def train_model(self, batch):
        s, a, s2, r = batch
        predicted = s + self.model(torch.cat([s, a], 1))
        loss = nn.functional.mse_loss(predicted, s2) + nn.functional.mse_loss(self.reward(s2), r)
        self.model_opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([p for g in self.model_opt.param_groups for p in g["params"]], 100.0)
        self.model_opt.step()
        return loss.item()

    def train_behaviour(self, start):
        with frozen(self.model, self.reward, self.value):
            state, states, ret, discount = start, [start], 0.0, 1.0
            for _ in range(self.horizon):
                state = state + self.model(torch.cat([state, self.act(state)], 1))
                states.append(state)
                ret = ret + discount * self.reward(state)
                discount *= self.gamma
            ret = ret + discount * self.value(state)
            actor_loss = -ret.mean()
            self.actor_opt.zero_grad(set_to_none=True)
            actor_loss.backward()
            nn.utils.clip_grad_norm_(self.actor.parameters(), 100.0)
            self.actor_opt.step()
        imagined = torch.stack(states).detach()
        with torch.no_grad():
            target = self.reward(imagined[1:]) + self.gamma * self.value(imagined[1:])
        value_loss = nn.functional.mse_loss(self.value(imagined[:-1]), target)
        self.value_opt.zero_grad(set_to_none=True)
        value_loss.backward()
        self.value_opt.step()
        return actor_loss.item(), value_loss.item()

    def sample(self, n):
        return [torch.stack(column) for column in zip(*random.sample(self.buffer, n))]


random.seed(0)
torch.manual_seed(0)
agent, env = Dreamer(), PointMass()
for episode in range(5):
    reward = agent.gather(env, 60)
    for _ in range(8):
        batch = agent.sample(32)
        model_loss = agent.train_model(batch)
        actor_loss, value_loss = agent.train_behaviour(batch[0])
    print(f"episode {episode} reward {reward:.3f} model {model_loss:.4f} actor {actor_loss:.3f} value {value_loss:.3f}")
