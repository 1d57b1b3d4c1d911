"""OK: DQN learns every fourth environment step (a frequency, not accumulation); the target net gets copies, never gradients."""
import copy
import random
from collections import deque

import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)
q_net = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 3))
target_net = copy.deepcopy(q_net)
target_net.eval()
optimizer = torch.optim.Adam(q_net.parameters(), lr=2e-3)
memory = deque(maxlen=500)
losses = []


def env_step(state, action):
    position, velocity = state
    velocity = max(-1.0, min(1.0, velocity + 0.2 * (action - 1)))
    position = position + 0.2 * velocity
    return (position, velocity), -abs(position), abs(position) > 3


def optimize_model():
    batch = random.sample(memory, 32)
    s, a, r, s2, d = map(torch.tensor, zip(*batch))
    q = q_net(s).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        target = r + 0.95 * target_net(s2).max(1).values * (~d)
    loss = nn.functional.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    for param in q_net.parameters():
        param.grad.data.clamp_(-1, 1)
    optimizer.step()
    losses.append(loss.item())


state, t = (1.0, 0.0), 0
for t in range(1, 401):
    if random.random() < max(0.1, 1 - t / 200):
        action = random.randrange(3)
    else:
        with torch.no_grad():
            action = q_net(torch.tensor(state)).argmax().item()
    after, reward, done = env_step(state, action)
    memory.append((state, action, reward, after, done))
    state = (random.uniform(-1, 1), 0.0) if done else after
    if len(memory) >= 64 and t % 4 == 0:
        optimize_model()
    if t % 50 == 0:
        target_net.load_state_dict(q_net.state_dict())
print(len(losses), "updates, last loss", losses[-1])
