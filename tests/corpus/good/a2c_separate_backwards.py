"""OK: actor and critic losses have a backward each (the advantage is detached) and two optimizers, cleared together."""
import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizers = [torch.optim.Adam(actor.parameters(), lr=3e-3), torch.optim.Adam(critic.parameters(), lr=1e-2)]

state = torch.randn(8, 4)
for update in range(40):
    log_probs, values, rewards, entropies = [], [], [], []
    for t in range(5):
        dist = torch.distributions.Categorical(logits=actor(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        values.append(critic(state).squeeze(1))
        rewards.append((action == (state[:, 0] > 0).long()).float())
        state = torch.randn(8, 4)
    with torch.no_grad():
        R = critic(state).squeeze(1)
    returns = []
    for r in reversed(rewards):
        R = r + 0.9 * R
        returns.insert(0, R)
    returns, values = torch.stack(returns), torch.stack(values)
    advantage = (returns - values).detach()
    for opt in optimizers:
        opt.zero_grad()
    actor_loss = -(torch.stack(log_probs) * advantage).mean() - 0.01 * torch.stack(entropies).mean()
    critic_loss = (returns - values).pow(2).mean()
    actor_loss.backward()
    critic_loss.backward()
    for opt in optimizers:
        opt.step()
print(actor_loss.item(), critic_loss.item())
