"""Training only every so often is no accumulation: the backward is inside the guard, too."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "generator every n critics": """\
import torch

G, D = torch.nn.Linear(8, 4), torch.nn.Linear(4, 1)
opt_g = torch.optim.RMSprop(G.parameters(), lr=5e-5)
opt_d = torch.optim.RMSprop(D.parameters(), lr=5e-5)
n_critic = 5
for i, real in enumerate(loader):
    z = torch.randn(real.size(0), 8)
    opt_d.zero_grad()
    loss_d = D(G(z).detach()).mean() - D(real).mean()
    loss_d.backward()
    opt_d.step()
    for p in D.parameters():
        p.data.clamp_(-0.01, 0.01)
    if i % n_critic == 0:
        opt_g.zero_grad()
        loss_g = -D(G(z)).mean()
        loss_g.backward()
        opt_g.step()
""",
    "dqn learns every four frames": """\
import torch
import torch.nn.functional as F


class Agent:
    def __init__(self, q, target, memory):
        self.q, self.target, self.memory = q, target, memory
        self.optimizer = torch.optim.Adam(q.parameters(), lr=5e-4)
        self.t_step = 0

    def step(self, transition):
        self.memory.add(transition)
        self.t_step = (self.t_step + 1) % 4
        if self.t_step == 0 and len(self.memory) > 64:
            self.learn(self.memory.sample())

    def learn(self, experiences):
        s, a, r, s2, done = experiences
        target = r + 0.99 * self.target(s2).detach().max(1)[0].unsqueeze(1) * (1 - done)
        loss = F.mse_loss(self.q(s).gather(1, a), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def run(env, agent):
    for episode in range(100):
        done = False
        while not done:
            transition, done = env.step()
            agent.step(transition)
""",
    "td3 delayed policy": """\
import torch
import torch.nn.functional as F


def train(actor, critic, critic_target, replay, iterations, policy_freq=2):
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=3e-4)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=3e-4)
    for it in range(iterations):
        state, action, target_q = replay.sample()
        critic_loss = F.mse_loss(critic(state, action), target_q)
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()
        if it % policy_freq == 0:
            actor_loss = -critic(state, actor(state)).mean()
            actor_optimizer.zero_grad()
            actor_loss.backward()
            actor_optimizer.step()
""",
    "cleanrl": """\
import torch
import torch.nn.functional as F
import torch.optim as optim

q_network = QNetwork(envs).to(device)
optimizer = optim.Adam(q_network.parameters(), lr=args.learning_rate)
target_network = QNetwork(envs).to(device)
target_network.load_state_dict(q_network.state_dict())
for global_step in range(args.total_timesteps):
    if global_step > args.learning_starts:
        if global_step % args.train_frequency == 0:
            data = rb.sample(args.batch_size)
            with torch.no_grad():
                target_max, _ = target_network(data.next_observations).max(dim=1)
                td_target = data.rewards.flatten() + args.gamma * target_max
            old_val = q_network(data.observations).gather(1, data.actions).squeeze()
            loss = F.mse_loss(td_target, old_val)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if global_step % args.target_network_frequency == 0:
            target_network.load_state_dict(q_network.state_dict())
""",
    "ema and logging every k": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.99)
for i, (x, y) in enumerate(loader):
    loss = torch.nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 100 == 0:
        sched.step()
        print(loss.item())
""",
    "regularisation every sixteen": """\
import torch


def train(generator, discriminator, loader, g_optim, d_optim, d_reg_every=16, r1=10.0):
    for i, real_img in enumerate(loader):
        fake_img = generator(torch.randn(real_img.size(0), 512))
        d_loss = torch.nn.functional.softplus(discriminator(fake_img.detach())).mean()
        d_loss = d_loss + torch.nn.functional.softplus(-discriminator(real_img)).mean()
        discriminator.zero_grad()
        d_loss.backward()
        d_optim.step()
        if i % d_reg_every == 0:
            real_img.requires_grad = True
            real_pred = discriminator(real_img)
            (grad_real,) = torch.autograd.grad(outputs=real_pred.sum(), inputs=real_img, create_graph=True)
            r1_loss = grad_real.pow(2).reshape(grad_real.shape[0], -1).sum(1).mean()
            discriminator.zero_grad()
            (r1 / 2 * r1_loss * d_reg_every + 0 * real_pred[0]).backward()
            d_optim.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
