"""BUG: the agent resets its episode memory, and with it the policy's gradients, after backward and before the step."""
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Corridor:
    """Walk right to the goal; -0.1 per move, +1 at the end."""

    def __init__(self, length=6):
        self.length = length

    def reset(self):
        self.pos, self.t = 0, 0
        return self._obs()

    def _obs(self):
        return nn.functional.one_hot(torch.tensor(self.pos), self.length).float()

    def step(self, action):
        self.pos = max(0, min(self.length - 1, self.pos + (1 if action == 1 else -1)))
        self.t += 1
        done = self.pos == self.length - 1 or self.t >= 15
        return self._obs(), 1.0 if self.pos == self.length - 1 else -0.1, done


class Agent:
    def __init__(self, obs_dim, n_actions, gamma=0.95):
        self.policy = nn.Sequential(nn.Linear(obs_dim, 24), nn.ReLU(), nn.Linear(24, n_actions))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=5e-3)
        self.gamma = gamma
        self.reset()

    def reset(self):
        self.log_probs, self.rewards = [], []
        self.policy.zero_grad()  # expect: GL102

    def act(self, obs):
        dist = Categorical(logits=self.policy(obs))
        action = dist.sample()
        self.log_probs.append(dist.log_prob(action))
        return action.item()

    def learn(self):
        R, returns = 0.0, []
        for r in reversed(self.rewards):
            R = r + self.gamma * R
            returns.insert(0, R)
        returns = torch.tensor(returns)
        policy_loss = -(torch.stack(self.log_probs) * returns).sum()
        policy_loss.backward()
        self.reset()
        self.optimizer.step()


torch.manual_seed(8)
env = Corridor()
agent = Agent(6, 2)
for epoch in range(2):
    total = 0.0
    for episode in range(10):
        obs, done = env.reset(), False
        while not done:
            obs, reward, done = env.step(agent.act(obs))
            agent.rewards.append(reward)
            total += reward
        agent.learn()
    print(f"epoch {epoch}: average return {total / 10:.2f}")
