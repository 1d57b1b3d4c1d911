"""BUG: the update timer is due at tick 0 already: the first update of each epoch is one micro-batch over four."""
import torch
from torch import nn


class Every:
    """True on every n-th tick."""

    def __init__(self, n):
        self.n = n
        self.tick = 0

    def restart(self):
        self.tick = 0

    def __call__(self):
        due = self.tick % self.n == 0
        self.tick += 1
        return due


def expert(obs):
    return torch.stack([obs[:, 0] - obs[:, 1], obs[:, 2].sin()], 1).clamp(-1, 1)


class ReplayDataset:
    def __init__(self, transitions, batch_size, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.obs = torch.randn(transitions, 5, generator=g)
        self.act = expert(self.obs)
        self.batch_size = batch_size

    def sample(self):
        idx = torch.randint(0, len(self.obs), (self.batch_size,))
        return self.obs[idx], self.act[idx]


torch.manual_seed(41)
N_ACC = 4
buffer = ReplayDataset(400, 16)
policy = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
optim = torch.optim.NAdam(policy.parameters(), lr=2e-3)
should_update = Every(N_ACC)

for epoch in range(3):
    should_update.restart()
    optim.zero_grad()
    for _ in range(4 * N_ACC + 1):
        obs, act = buffer.sample()
        bc_loss = (policy(obs) - act).square().mean() / N_ACC
        bc_loss.backward()
        if should_update():  # expect: GL204
            optim.step()  # expect: GL204
            optim.zero_grad()
    print(f"epoch {epoch}: {N_ACC * bc_loss.item():.4f}")
