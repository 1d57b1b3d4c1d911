"""BUG: the critic's optimizer is zeroed for every rollout, its loss is back-propagated, and it is never stepped."""
import torch
from torch import nn
from torch.distributions import Normal


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(3, 1)
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, state):
        return Normal(self.mean(state), self.log_std.exp())


class A2C:
    def __init__(self):
        self.policy = Policy()
        self.value = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=5e-3)
        self.value_optim = torch.optim.Adam(self.value.parameters(), lr=5e-3)  # expect: GL404

    def update(self, states):
        dist = self.policy(states)
        actions = dist.sample()
        rewards = -(actions - states.sum(1, keepdim=True)).abs()
        values = self.value(states)
        self.policy_optim.zero_grad()
        self.value_optim.zero_grad()
        policy_loss = -(dist.log_prob(actions) * (rewards - values).detach()).mean()
        value_loss = (values - rewards).pow(2).mean()
        policy_loss.backward()
        value_loss.backward()  # expect: GL404
        self.policy_optim.step()
        return rewards.mean().item(), value_loss.item()


if __name__ == "__main__":
    torch.manual_seed(228)
    agent = A2C()
    for iteration in range(20):
        reward, value_loss = agent.update(torch.randn(48, 3))
    print("reward", reward, "value loss", value_loss)
