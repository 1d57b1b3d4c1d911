"""OK: REINFORCE keeps the log-probabilities of one episode with their graphs, uses them in one backward and empties the list."""
import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    """Walk right to the goal at 5; env.step() has nothing to do with an optimizer."""

    def reset(self):
        self.at, self.time = 0, 0
        return self.observe()

    def observe(self):
        return torch.nn.functional.one_hot(torch.tensor(self.at), 6).float()

    def step(self, action):
        self.at = max(0, min(5, self.at + (1 if action == 1 else -1)))
        self.time += 1
        done = self.at == 5 or self.time >= 25
        return self.observe(), float(self.at == 5) - 0.02, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(6, 2)
        self.saved_log_probs = []
        self.rewards = []

    def act(self, state):
        m = Categorical(logits=self.net(state))
        action = m.sample()
        self.saved_log_probs.append(m.log_prob(action))
        return action.item()


def finish_episode(policy, optimizer, gamma=0.98):
    ret, returns = 0.0, []
    for r in reversed(policy.rewards):
        ret = r + gamma * ret
        returns.insert(0, ret)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = torch.stack([-lp * g for lp, g in zip(policy.saved_log_probs, returns)]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]


torch.manual_seed(0)
env, policy = Corridor(), Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-2)
running = 0.0
for episode in range(40):
    state, done, total = env.reset(), False, 0.0
    while not done:
        state, reward, done = env.step(policy.act(state))
        policy.rewards.append(reward)
        total += reward
    running = 0.9 * running + 0.1 * total
    finish_episode(policy, optimizer)
print("running reward", running)
