"""Scripts as people write them, with one mistake each."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs

PROGRAMS = {
    "a hook that clips after the step": """\
import argparse
import logging

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

logger = logging.getLogger(__name__)


class Hook:
    def before_step(self, trainer):
        pass

    def after_step(self, trainer):
        pass


class ClipHook(Hook):
    def __init__(self, max_norm):
        self.max_norm = max_norm

    def after_step(self, trainer):
        torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), self.max_norm)  # <- GL304


class Trainer:
    def __init__(self, model, optimizer, criterion, hooks=()):
        self.model = model
        self.optimizer = optimizer
        self.criterion = criterion
        self.hooks = list(hooks)
        self.step_count = 0

    def run_epoch(self, loader):
        self.model.train()
        running = 0.0
        for inputs, targets in loader:
            self.optimizer.zero_grad()
            outputs = self.model(inputs)
            loss = self.criterion(outputs, targets)
            loss.backward()
            for hook in self.hooks:
                hook.before_step(self)
            self.optimizer.step()
            for hook in self.hooks:
                hook.after_step(self)
            running += loss.item()
            self.step_count += 1
        return running / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    from torchvision import datasets, transforms

    data = datasets.MNIST("data", train=True, download=True, transform=transforms.ToTensor())
    loader = DataLoader(data, batch_size=128, shuffle=True)
    trainer = Trainer(model, optimizer, nn.CrossEntropyLoss(), hooks=[ClipHook(1.0)])
    for epoch in range(args.epochs):
        loss = trainer.run_epoch(loader)
        logger.info("epoch %d loss %.4f", epoch, loss)


if __name__ == "__main__":
    main()
""",
    "a GAN in a class": """\
import torch
from torch import nn, optim


class Generator(nn.Module):
    def __init__(self, z=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(z, 128), nn.ReLU(), nn.Linear(128, 784), nn.Tanh())

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(784, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


class GAN:
    def __init__(self, z=64, lr=2e-4):
        self.z = z
        self.G = Generator(z)
        self.D = Discriminator()
        self.opt_g = optim.Adam(self.G.parameters(), lr=lr, betas=(0.5, 0.999))
        self.opt_d = optim.Adam(self.D.parameters(), lr=lr, betas=(0.5, 0.999))
        self.bce = nn.BCEWithLogitsLoss()

    def train_d(self, real):
        noise = torch.randn(real.size(0), self.z)
        fake = self.G(noise).detach()
        loss = self.bce(self.D(real), torch.ones(real.size(0))) + self.bce(
            self.D(fake), torch.zeros(real.size(0))
        )
        loss.backward()
        self.opt_d.step()  # <- GL401
        self.opt_d.zero_grad()
        return loss.item()

    def train_g(self, n):
        self.opt_g.zero_grad()
        fake = self.G(torch.randn(n, self.z))
        loss = self.bce(self.D(fake), torch.ones(n))
        loss.backward()
        self.opt_g.step()
        return loss.item()


def run(loader, epochs=10):
    gan = GAN()
    for epoch in range(epochs):
        for real, _ in loader:
            real = real.view(real.size(0), -1)
            d = gan.train_d(real)
            g = gan.train_g(real.size(0))
        print(epoch, d, g)


if __name__ == "__main__":
    from torchvision import datasets, transforms

    ds = datasets.MNIST(".", transform=transforms.ToTensor(), download=True)
    run(torch.utils.data.DataLoader(ds, batch_size=64, shuffle=True))
""",
    "a table of optimizers": """\
import torch
from torch import nn


def build():
    nets = {
        "encoder": nn.Linear(16, 8),
        "decoder": nn.Linear(8, 16),
        "classifier": nn.Linear(8, 4),
    }
    opts = {name: torch.optim.Adam(net.parameters(), lr=1e-3) for name, net in nets.items()}
    return nets, opts


def fit(loader, epochs=3):
    nets, opts = build()
    mse, ce = nn.MSELoss(), nn.CrossEntropyLoss()
    for _ in range(epochs):
        for x, y in loader:
            z = nets["encoder"](x)
            loss = mse(nets["decoder"](z), x) + ce(nets["classifier"](z), y)
            loss.backward()  # <- GL101
            for opt in opts.values():
                opt.step()
    return nets


if __name__ == "__main__":
    data = [(torch.randn(4, 16), torch.randint(0, 4, (4,))) for _ in range(20)]
    fit(data)
""",
    "Lightning with manual optimization": """\
import lightning.pytorch as pl
import torch
from torch import nn
import torch.nn.functional as F


class WGAN(pl.LightningModule):
    def __init__(self, latent=100, lr=1e-4, n_critic=5):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(latent, 256), nn.ReLU(), nn.Linear(256, 784))
        self.critic = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, z):
        return self.generator(z)

    def training_step(self, batch, batch_idx):
        x, _ = batch
        opt_g, opt_c = self.optimizers()
        z = torch.randn(x.size(0), self.hparams.latent)

        # critic
        loss_c = self.critic(self(z).detach()).mean() - self.critic(x.flatten(1)).mean()
        self.manual_backward(loss_c)
        opt_c.zero_grad()  # <- GL102
        opt_c.step()

        # generator
        if batch_idx % self.hparams.n_critic == 0:
            loss_g = -self.critic(self(z)).mean()
            opt_g.zero_grad()
            self.manual_backward(loss_g)
            opt_g.step()
        self.log("c", loss_c)

    def configure_optimizers(self):
        g = torch.optim.RMSprop(self.generator.parameters(), lr=self.hparams.lr)
        c = torch.optim.RMSprop(self.critic.parameters(), lr=self.hparams.lr)
        return g, c
""",
    "actor and critic in one loop": """\
import gym
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

env = gym.make("CartPole-v1")


class ActorCritic(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.shared = nn.Linear(obs, 128)
        self.actor = nn.Linear(128, act)
        self.critic = nn.Linear(128, 1)

    def forward(self, x):
        x = F.relu(self.shared(x))
        return F.softmax(self.actor(x), dim=-1), self.critic(x)


policy = ActorCritic(4, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-2)
gamma = 0.99

for episode in range(1000):
    state, _ = env.reset()
    log_probs, values, rewards = [], [], []
    for t in range(10000):
        probs, value = policy(torch.from_numpy(state).float())
        dist = Categorical(probs)
        action = dist.sample()
        state, reward, done, truncated, _ = env.step(action.item())
        log_probs.append(dist.log_prob(action))
        values.append(value)
        rewards.append(reward)
        if done or truncated:
            break
    R = 0
    returns = []
    for r in rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    policy_losses, value_losses = [], []
    for lp, v, R in zip(log_probs, values, returns):
        advantage = R - v.item()
        policy_losses.append(-lp * advantage)
        value_losses.append(F.smooth_l1_loss(v, R.view(1)))
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()  # <- GL101
    optimizer.step()
""",
    "losses kept beside SAM": """\
import torch


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        defaults = dict(rho=rho, **kwargs)
        super().__init__(params, defaults)
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        for group in self.param_groups:
            scale = group["rho"] / (self._grad_norm() + 1e-12)
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["old_p"] = p.data.clone()
                p.add_(p.grad * scale)
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data = self.state[p]["old_p"]
        self.base_optimizer.step()
        if zero_grad:
            self.zero_grad()

    def _grad_norm(self):
        return torch.norm(torch.stack([p.grad.norm(p=2) for g in self.param_groups for p in g["params"]]))


def train(model, loader, criterion, epochs):
    sam = SAM(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(sam.base_optimizer, T_max=epochs)
    total = 0
    for epoch in range(epochs):
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            sam.first_step(zero_grad=True)
            criterion(model(x), y).backward()
            sam.second_step(zero_grad=True)
            total += loss  # <- GL107
        scheduler.step()
    return total
""",
    "meta-learning with two steps": """\
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(1, 40)
        self.fc2 = nn.Linear(40, 1)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def sample_task():
    a, p = torch.rand(1) * 4.9 + 0.1, torch.rand(1) * 3.14
    x = torch.rand(10, 1) * 10 - 5
    return x, a * torch.sin(x + p)


def fomaml(iterations=1000, inner_lr=0.01, tasks=4):
    meta = Net()
    meta_opt = torch.optim.Adam(meta.parameters(), lr=1e-3)
    for it in range(iterations):
        meta_opt.zero_grad()
        for _ in range(tasks):
            x, y = sample_task()
            fast = copy.deepcopy(meta)
            inner = torch.optim.SGD(fast.parameters(), lr=inner_lr)
            for _ in range(3):
                inner.zero_grad()
                F.mse_loss(fast(x), y).backward()
                inner.step()
            xq, yq = sample_task()
            F.mse_loss(meta(xq), yq).backward()
        meta_opt.step()
        meta_opt.step()  # <- GL105
    return meta


if __name__ == "__main__":
    fomaml()
""",
    "passes and steps in a module of helpers": """\
# file: train.py
import torch
from torch import nn

from steps import backward_step, optimizer_step


def main(loader):
    model = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    criterion = nn.CrossEntropyLoss()
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            with torch.autocast("cuda"):
                loss = criterion(model(x), y)
            backward_step(loss, scaler)
            optimizer_step(optimizer, scaler)


if __name__ == "__main__":
    main(make_loader())
# file: steps.py
def backward_step(loss, scaler=None):
    if scaler is not None:
        scaler.scale(loss).backward()
    else:
        loss.backward()


def optimizer_step(optimizer, scaler=None):
    optimizer.step()  # <- GL302
    if scaler is not None:
        scaler.update()
""",
    "a window behind a progress bar": """\
import torch
from torch import nn
from tqdm import tqdm


class Seq2SeqTrainer:
    def __init__(self, cfg, model, tokenizer):
        self.cfg = cfg
        self.model = model
        self.tok = tokenizer
        self.optim = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
        self.sched = torch.optim.lr_scheduler.LambdaLR(self.optim, lambda s: min(1.0, s / 100))
        self.criterion = nn.CrossEntropyLoss(ignore_index=0)

    def compute_loss(self, batch):
        logits = self.model(batch["src"], batch["tgt"][:, :-1])
        return self.criterion(logits.reshape(-1, logits.size(-1)), batch["tgt"][:, 1:].reshape(-1))

    def fit(self, loader):
        for epoch in range(self.cfg.epochs):
            bar = tqdm(loader, desc=f"epoch {epoch}")
            for i, batch in enumerate(bar):
                self.optim.zero_grad()  # <- GL103
                loss = self.compute_loss(batch) / self.cfg.accumulate
                loss.backward()
                if (i + 1) % self.cfg.accumulate == 0 or (i + 1) == len(loader):
                    nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip)
                    self.optim.step()
                    self.sched.step()
                bar.set_postfix(loss=loss.item())
""",
    "a model that gives its own loss": """\
import math
import torch
from dataclasses import dataclass


@dataclass
class Config:
    lr: float = 3e-4
    micro_batch: int = 4
    accumulation: int = 16
    epochs: int = 2
    clip: float = 1.0


class GPT(torch.nn.Module):
    def __init__(self, vocab=1000, dim=64):
        super().__init__()
        self.tok = torch.nn.Embedding(vocab, dim)
        self.block = torch.nn.TransformerEncoderLayer(dim, 4, batch_first=True)
        self.head = torch.nn.Linear(dim, vocab)

    def forward(self, idx, targets=None):
        h = self.block(self.tok(idx))
        logits = self.head(h)
        loss = None
        if targets is not None:
            loss = torch.nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss


def main():
    cfg = Config()
    model = GPT()
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    loader = make_loader(cfg.micro_batch)
    opt.zero_grad()
    for epoch in range(cfg.epochs):
        for i, (x, y) in enumerate(loader):
            _, loss = model(x, y)
            loss.backward()  # <- GL201
            if (i + 1) % cfg.accumulation == 0 or i + 1 == len(loader):
                torch.nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
                opt.step()
                opt.zero_grad()


main()
""",
    "two phases of one trainer": """\
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, Y = torch.randn(96, 8), torch.randint(0, 3, (96,))
loader = DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(8, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(F.relu(self.backbone(x)))


def train_phase(model, params, lr, epochs):
    opt = torch.optim.SGD(params, lr=lr)
    for _ in range(epochs):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            loss.backward()  # <- GL101
            opt.step()


model = Net()
train_phase(model, model.head.parameters(), 0.1, 1)
train_phase(model, model.parameters(), 0.01, 2)
""",
    "losses divided before their mean": """\
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, Y = torch.randn(96, 8), torch.randint(0, 3, (96,))
loader = DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=True)


model = nn.Linear(8, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
N = 4
opt.zero_grad()
window = []
for i, (x, y) in enumerate(loader):
    window.append(F.cross_entropy(model(x), y) / N)
    if len(window) == N:
        torch.stack(window).mean().backward()  # <- GL207
        opt.step()
        opt.zero_grad()
        window = []
""",
}


@pytest.mark.parametrize("text", programs(PROGRAMS))
def test_the_mistake_is_found_and_nothing_else(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []
