"""BUG: the policy loss is back-propagated on its own and then again as part of the total."""
import torch
import torch.nn.functional as F
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(observations, 20), nn.Tanh())
        self.pi = nn.Linear(20, actions)
        self.v = nn.Linear(20, 1)

    def forward(self, obs):
        h = self.trunk(obs)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


class Agent:
    def __init__(self):
        self.net = ActorCritic(4, 3)
        self.optim = torch.optim.RMSprop(self.net.parameters(), lr=7e-4)

    def learn(self, obs, actions, returns):
        dist, values = self.net(obs)
        advantage = (returns - values).detach()
        policy_loss = -(dist.log_prob(actions) * advantage).mean()
        value_loss = F.mse_loss(values, returns)
        self.optim.zero_grad()
        policy_loss.backward(retain_graph=True)
        total = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
        total.backward()  # expect: GL108
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.optim.step()
        return total.item()


torch.manual_seed(90)
agent = Agent()
for iteration in range(12):
    obs = torch.randn(32, 4)
    with torch.no_grad():
        actions = agent.net(obs)[0].sample()
    returns = (actions == obs[:, :3].argmax(1)).float()
    value = agent.learn(obs, actions, returns)
print("total", value, "mean return", returns.mean().item())
