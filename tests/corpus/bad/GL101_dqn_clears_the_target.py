"""BUG: the target network is cleared instead of the one that is trained; gradients are bounded by hand."""
import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class ReplayBuffer:
    def __init__(self, size):
        self.data = deque(maxlen=size)

    def push(self, *item):
        self.data.append(item)

    def sample(self, n):
        s, a, r, s2, d = zip(*random.sample(self.data, n))
        return torch.stack(s), torch.tensor(a), torch.tensor(r), torch.stack(s2), torch.tensor(d, dtype=torch.float32)


class Agent:
    def __init__(self, n=6, lr=1e-2, gamma=0.9):
        self.q = nn.Sequential(nn.Linear(n, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target = copy.deepcopy(self.q)
        self.optimizer = torch.optim.RMSprop(self.q.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.999)
        self.gamma, self.n, self.updates = gamma, n, 0

    def act(self, s, eps):
        if random.random() < eps:
            return random.randrange(2)
        with torch.no_grad():
            return self.q(s).argmax().item()

    def learn(self, batch):
        s, a, r, s2, d = batch
        q = self.q(s).gather(1, a.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            backup = r + self.gamma * (1 - d) * self.target(s2).max(1).values
        loss = F.smooth_l1_loss(q, backup)
        self.target.zero_grad()  # expect: GL101
        loss.backward()
        for p in self.q.parameters():
            p.grad.data.clamp_(-1, 1)
        self.optimizer.step()
        self.scheduler.step()
        self.updates += 1
        if self.updates % 20 == 0:
            self.target.load_state_dict(self.q.state_dict())
        return loss.item()


def one_hot(i, n):
    return F.one_hot(torch.tensor(i), n).float()


def main(steps=120):
    random.seed(0)
    torch.manual_seed(0)
    agent, memory, pos = Agent(), ReplayBuffer(500), 0
    losses = []
    for t in range(steps):
        eps = max(0.1, 1 - t / 80)
        s = one_hot(pos, agent.n)
        a = agent.act(s, eps)
        pos = min(agent.n - 1, pos + 1) if a else max(0, pos - 1)
        done = pos == agent.n - 1
        memory.push(s, a, 1.0 if done else 0.0, one_hot(pos, agent.n), done)
        if done:
            pos = 0
        if len(memory.data) >= 32:
            losses.append(agent.learn(memory.sample(16)))
    print("updates", agent.updates, "loss", sum(losses[-10:]) / 10)


main()
