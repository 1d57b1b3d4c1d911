"""BUG: the actor's loss flows through the critic, and the critic's next step still holds those gradients."""
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(202)
random.seed(202)

actor = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
memory = deque(maxlen=500)


def environment(state, action):
    following = 0.9 * state + 0.1 * torch.randn(3)
    following[0] = following[0] + 0.3 * action
    return following, -following[0].abs()


state = torch.randn(3)
for t in range(60):
    with torch.no_grad():
        action = actor(state)[0] + 0.3 * torch.randn(())
    following, reward = environment(state, action)
    memory.append((state, action, reward, following))
    state = following
    if len(memory) < 24:
        continue

    s, a, r, s2 = (torch.stack(column) for column in zip(*random.sample(memory, 24)))
    with torch.no_grad():
        goal = r[:, None] + 0.9 * critic(torch.cat([s2, actor(s2)], dim=1))
    critic_loss = F.mse_loss(critic(torch.cat([s, a[:, None]], dim=1)), goal)
    critic_loss.backward()
    critic_optimizer.step()  # expect: GL401
    critic_optimizer.zero_grad()  # expect: GL401

    actor_optimizer.zero_grad()
    actor_loss = -critic(torch.cat([s, actor(s)], dim=1)).mean()
    actor_loss.backward()
    actor_optimizer.step()

print("critic", critic_loss.item(), "actor", actor_loss.item())
