"""BUG: only the actor's optimizer is unscaled before both networks are clipped."""
import torch
from torch import nn

torch.manual_seed(138)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=512.0)


def collect(n):
    state = torch.randn(n, 4)
    with torch.no_grad():
        action = torch.distributions.Categorical(logits=actor(state)).sample()
    reward = torch.where(action == (state[:, 0] > 0).long(), 1.0, 0.0)
    return state, action, reward


for iteration in range(15):
    state, action, reward = collect(64)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits, value = actor(state), critic(state)
    value = value.float().squeeze(1)
    log_prob = torch.distributions.Categorical(logits=logits.float()).log_prob(action)
    actor_loss = -(log_prob * (reward - value.detach())).mean()
    critic_loss = (value - reward).pow(2).mean()

    actor_opt.zero_grad()
    critic_opt.zero_grad()
    scaler.scale(actor_loss).backward()
    scaler.scale(critic_loss).backward()
    scaler.unscale_(actor_opt)
    nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
    nn.utils.clip_grad_norm_(critic.parameters(), 0.5)  # expect: GL301
    scaler.step(actor_opt)
    scaler.step(critic_opt)
    scaler.update()

print("reward", reward.mean().item(), "critic loss", critic_loss.item())
