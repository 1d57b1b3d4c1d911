"""BUG: both optimizers are zeroed between the actor's backward and its step, which then does nothing."""
import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    def __init__(self, length=6):
        self.length = length

    def reset(self):
        self.position = 2
        return self.observe()

    def observe(self):
        return torch.nn.functional.one_hot(torch.tensor(self.position), self.length).float()

    def step(self, action):
        self.position = max(0, min(self.length - 1, self.position + (1 if action else -1)))
        done = self.position == self.length - 1
        return self.observe(), 1.0 if done else -0.05, done


def rollout(env, actor, horizon=12):
    states, log_probs, rewards = [], [], []
    state = env.reset()
    for _ in range(horizon):
        dist = Categorical(logits=actor(state))
        action = dist.sample()
        states.append(state)
        log_probs.append(dist.log_prob(action))
        state, reward, done = env.step(action.item())
        rewards.append(reward)
        if done:
            break
    returns, running = [], 0.0
    for r in reversed(rewards):
        running = r + 0.95 * running
        returns.insert(0, running)
    return torch.stack(states), torch.stack(log_probs), torch.tensor(returns)


torch.manual_seed(8)
actor = nn.Linear(6, 2)
critic = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
opts = {"actor": torch.optim.Adam(actor.parameters(), 1e-2), "critic": torch.optim.Adam(critic.parameters(), 1e-2)}

env = Corridor()
for episode in range(25):
    states, log_probs, returns = rollout(env, actor)
    values = critic(states).squeeze(-1)
    advantage = returns - values.detach()
    actor_loss = -(log_probs * advantage).mean()
    critic_loss = nn.functional.mse_loss(values, returns)

    actor_loss.backward()
    opts["critic"].zero_grad()
    opts["actor"].zero_grad()  # expect: GL102
    critic_loss.backward()
    opts["actor"].step()
    opts["critic"].step()

print("return of the last episode", returns[0].item())
