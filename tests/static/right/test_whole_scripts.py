"""Scripts as people write them, without a mistake."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "callbacks by name": """\
import torch
from torch import nn


class Callback:
    def on_batch_begin(self, trainer): ...

    def on_batch_end(self, trainer): ...


class ZeroGrad(Callback):
    def on_batch_begin(self, trainer):
        trainer.optimizer.zero_grad(set_to_none=True)


class Clip(Callback):
    def __init__(self, value):
        self.value = value

    def on_after_backward(self, trainer):
        nn.utils.clip_grad_value_(trainer.model.parameters(), self.value)


class Trainer:
    def __init__(self, model, callbacks):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())
        self.callbacks = callbacks

    def call(self, event):
        for cb in self.callbacks:
            method = getattr(cb, event, None)
            if method is not None:
                method(self)

    def fit(self, loader, epochs):
        for _ in range(epochs):
            for x, y in loader:
                self.call("on_batch_begin")
                loss = nn.functional.mse_loss(self.model(x), y)
                loss.backward()
                self.call("on_after_backward")
                self.optimizer.step()
                self.call("on_batch_end")


Trainer(nn.Linear(3, 1), [ZeroGrad(), Clip(0.5)]).fit(get_loader(), 4)
""",
    "WGAN with a gradient penalty": """\
import torch
from torch import nn, autograd, optim

G = nn.Sequential(nn.Linear(64, 256), nn.ReLU(True), nn.Linear(256, 784), nn.Tanh())
D = nn.Sequential(nn.Linear(784, 256), nn.ReLU(True), nn.Linear(256, 1))
optG = optim.Adam(G.parameters(), lr=1e-4, betas=(0.5, 0.9))
optD = optim.Adam(D.parameters(), lr=1e-4, betas=(0.5, 0.9))
one = torch.tensor(1.0)
mone = one * -1


def gradient_penalty(real, fake, lam=10):
    alpha = torch.rand(real.size(0), 1).expand_as(real)
    inter = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    out = D(inter)
    grads = autograd.grad(out, inter, torch.ones_like(out), create_graph=True)[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean() * lam


def batches(loader):
    while True:
        for x, _ in loader:
            yield x.view(x.size(0), -1)


data = batches(train_loader)
for iteration in range(100000):
    for p in D.parameters():
        p.requires_grad = True
    for _ in range(5):
        real = next(data)
        D.zero_grad()
        D_real = D(real).mean()
        D_real.backward(mone)
        with torch.no_grad():
            z = torch.randn(real.size(0), 64)
            fake = G(z)
        D_fake = D(fake).mean()
        D_fake.backward(one)
        gp = gradient_penalty(real, fake)
        gp.backward()
        optD.step()
    for p in D.parameters():
        p.requires_grad = False
    G.zero_grad()
    cost = D(G(torch.randn(64, 64))).mean()
    cost.backward(mone)
    optG.step()
""",
    "CycleGAN": """\
import itertools
import torch
from torch import nn


class CycleGANModel:
    def __init__(self):
        self.netG_A, self.netG_B = nn.Conv2d(3, 3, 3, 1, 1), nn.Conv2d(3, 3, 3, 1, 1)
        self.netD_A, self.netD_B = nn.Conv2d(3, 1, 4), nn.Conv2d(3, 1, 4)
        self.criterionGAN, self.criterionCycle = nn.MSELoss(), nn.L1Loss()
        generators = itertools.chain(self.netG_A.parameters(), self.netG_B.parameters())
        self.optimizer_G = torch.optim.Adam(generators, lr=2e-4)
        self.optimizer_D = torch.optim.Adam(
            itertools.chain(self.netD_A.parameters(), self.netD_B.parameters()), lr=2e-4
        )
        self.optimizers = [self.optimizer_G, self.optimizer_D]
        self.schedulers = [torch.optim.lr_scheduler.LambdaLR(o, lambda e: 1.0) for o in self.optimizers]

    def set_requires_grad(self, nets, requires_grad=False):
        if not isinstance(nets, list):
            nets = [nets]
        for net in nets:
            if net is not None:
                for param in net.parameters():
                    param.requires_grad = requires_grad

    def forward(self):
        self.fake_B = self.netG_A(self.real_A)
        self.rec_A = self.netG_B(self.fake_B)
        self.fake_A = self.netG_B(self.real_B)
        self.rec_B = self.netG_A(self.fake_A)

    def backward_D_basic(self, netD, real, fake):
        pred_real = netD(real)
        pred_fake = netD(fake.detach())
        loss_real = self.criterionGAN(pred_real, torch.ones_like(pred_real))
        loss_fake = self.criterionGAN(pred_fake, torch.zeros_like(pred_fake))
        loss = 0.5 * (loss_real + loss_fake)
        loss.backward()
        return loss

    def backward_G(self):
        loss = self.criterionGAN(self.netD_A(self.fake_B), torch.ones(1))
        loss = loss + self.criterionGAN(self.netD_B(self.fake_A), torch.ones(1))
        loss = loss + 10 * self.criterionCycle(self.rec_A, self.real_A)
        loss = loss + 10 * self.criterionCycle(self.rec_B, self.real_B)
        loss.backward()

    def optimize_parameters(self):
        self.forward()
        self.set_requires_grad([self.netD_A, self.netD_B], False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()
        self.set_requires_grad([self.netD_A, self.netD_B], True)
        self.optimizer_D.zero_grad()
        self.backward_D_basic(self.netD_A, self.real_B, self.fake_B)
        self.backward_D_basic(self.netD_B, self.real_A, self.fake_A)
        self.optimizer_D.step()

    def update_learning_rate(self):
        for s in self.schedulers:
            s.step()


model = CycleGANModel()
for epoch in range(100):
    for data in dataset:
        model.real_A, model.real_B = data["A"], data["B"]
        model.optimize_parameters()
    model.update_learning_rate()
""",
    "soft actor-critic": """\
import copy
import torch
import torch.nn.functional as F
from torch import nn


class SAC:
    def __init__(self, obs, act, lr=3e-4, tau=0.005, gamma=0.99):
        self.actor = nn.Linear(obs, 2 * act)
        self.q1, self.q2 = nn.Linear(obs + act, 1), nn.Linear(obs + act, 1)
        self.q1_t, self.q2_t = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.opt_actor = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.opt_q = torch.optim.Adam(list(self.q1.parameters()) + list(self.q2.parameters()), lr=lr)
        self.opt_alpha = torch.optim.Adam([self.log_alpha], lr=lr)
        self.tau, self.gamma, self.target_entropy = tau, gamma, -act

    def sample(self, s):
        mean, log_std = self.actor(s).chunk(2, dim=-1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        a = dist.rsample()
        return torch.tanh(a), dist.log_prob(a).sum(-1, keepdim=True)

    def update(self, batch, step):
        s, a, r, s2, d = batch
        with torch.no_grad():
            a2, lp2 = self.sample(s2)
            q_t = torch.min(self.q1_t(torch.cat([s2, a2], -1)), self.q2_t(torch.cat([s2, a2], -1)))
            target = r + self.gamma * (1 - d) * (q_t - self.log_alpha.exp() * lp2)
        sa = torch.cat([s, a], -1)
        q_loss = F.mse_loss(self.q1(sa), target) + F.mse_loss(self.q2(sa), target)
        self.opt_q.zero_grad()
        q_loss.backward()
        self.opt_q.step()
        if step % 2 == 0:
            new_a, lp = self.sample(s)
            q = torch.min(self.q1(torch.cat([s, new_a], -1)), self.q2(torch.cat([s, new_a], -1)))
            actor_loss = (self.log_alpha.exp().detach() * lp - q).mean()
            self.opt_actor.zero_grad()
            actor_loss.backward()
            self.opt_actor.step()
            alpha_loss = -(self.log_alpha * (lp + self.target_entropy).detach()).mean()
            self.opt_alpha.zero_grad()
            alpha_loss.backward()
            self.opt_alpha.step()
        with torch.no_grad():
            for net, tgt in ((self.q1, self.q1_t), (self.q2, self.q2_t)):
                for p, pt in zip(net.parameters(), tgt.parameters()):
                    pt.mul_(1 - self.tau).add_(self.tau * p)


agent = SAC(3, 1)
for t in range(100000):
    agent.update(buffer.sample(256), t)
""",
    "MAML": """\
import torch
import torch.nn.functional as F
from torch import nn


def functional(x, params):
    h = F.relu(F.linear(x, params[0], params[1]))
    return F.linear(h, params[2], params[3])


params = nn.ParameterList([
    nn.Parameter(torch.randn(40, 1) * 0.1), nn.Parameter(torch.zeros(40)),
    nn.Parameter(torch.randn(1, 40) * 0.1), nn.Parameter(torch.zeros(1)),
])
meta_opt = torch.optim.Adam(params, lr=1e-3)

for it in range(10000):
    meta_opt.zero_grad()
    for task in sample_tasks(4):
        xs, ys, xq, yq = task
        fast = list(params)
        for _ in range(5):
            loss = F.mse_loss(functional(xs, fast), ys)
            grads = torch.autograd.grad(loss, fast, create_graph=True)
            fast = [p - 0.01 * g for p, g in zip(fast, grads)]
        (F.mse_loss(functional(xq, fast), yq) / 4).backward()
    meta_opt.step()
""",
    "a loop, an optimizer and a model in three files": """\
# file: train.py
import torch
from torch import nn

from loops import Loop
from optim_tools import make_optimizer


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 1)

    def forward(self, x):
        return self.b(self.a(x).relu())


if __name__ == "__main__":
    net = Net()
    optimizer, scheduler = make_optimizer(net, lr=0.1, epochs=10)
    loop = Loop(net, optimizer, scheduler, accumulate=4)
    loop.run(get_loader(), 10)
# file: loops.py
import torch


class Loop:
    def __init__(self, net, optimizer, scheduler, accumulate=1):
        self.net, self.optimizer, self.scheduler = net, optimizer, scheduler
        self.accumulate = accumulate

    def _backward(self, loss):
        (loss / self.accumulate).backward()

    def _update(self):
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def run(self, loader, epochs):
        self.optimizer.zero_grad()
        for epoch in range(epochs):
            n = len(loader)
            for i, (x, y) in enumerate(loader):
                self._backward(torch.nn.functional.mse_loss(self.net(x), y))
                if (i + 1) % self.accumulate == 0 or i == n - 1:
                    self._update()
            self.scheduler.step()
# file: optim_tools.py
import torch


def make_optimizer(net, lr, epochs):
    decay, no_decay = [], []
    for name, p in net.named_parameters():
        (no_decay if name.endswith("bias") else decay).append(p)
    groups = [{"params": decay, "weight_decay": 1e-4}, {"params": no_decay, "weight_decay": 0.0}]
    optimizer = torch.optim.SGD(groups, lr=lr)
    return optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
""",
    "PPO": """\
import torch
import torch.nn as nn
from torch.distributions import Normal


class Agent(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(obs, 64), nn.Tanh(), nn.Linear(64, 1))
        self.actor_mean = nn.Sequential(nn.Linear(obs, 64), nn.Tanh(), nn.Linear(64, act))
        self.actor_logstd = nn.Parameter(torch.zeros(1, act))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        mean = self.actor_mean(x)
        std = torch.exp(self.actor_logstd.expand_as(mean))
        probs = Normal(mean, std)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(x)


if __name__ == "__main__":
    args = parse_args()
    agent = Agent(17, 6)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    for update in range(1, args.num_updates + 1):
        if args.anneal_lr:
            frac = 1.0 - (update - 1.0) / args.num_updates
            optimizer.param_groups[0]["lr"] = frac * args.learning_rate
        b_obs, b_actions, b_logprobs, b_adv, b_returns = rollout(agent, args)
        inds = torch.arange(args.batch_size)
        for epoch in range(args.update_epochs):
            for start in range(0, args.batch_size, args.minibatch_size):
                mb = inds[start : start + args.minibatch_size]
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb], b_actions[mb])
                ratio = (newlogprob - b_logprobs[mb]).exp()
                with torch.no_grad():
                    approx_kl = ((ratio - 1) - ratio.log()).mean()
                pg1 = -b_adv[mb] * ratio
                pg2 = -b_adv[mb] * torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = torch.max(pg1, pg2).mean()
                v_loss = 0.5 * ((newvalue.view(-1) - b_returns[mb]) ** 2).mean()
                loss = pg_loss - args.ent_coef * entropy.mean() + v_loss * args.vf_coef
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
            if args.target_kl is not None and approx_kl > args.target_kl:
                break
""",
    "style transfer": """\
import torch
import torchvision.models as models
from torch import optim

cnn = models.vgg19(weights="DEFAULT").features.eval()
for p in cnn.parameters():
    p.requires_grad_(False)
content, style = load("c.jpg"), load("s.jpg")
img = content.clone().requires_grad_(True)
optimizer = optim.LBFGS([img])
run = [0]
while run[0] <= 300:

    def closure():
        with torch.no_grad():
            img.clamp_(0, 1)
        optimizer.zero_grad()
        feats = cnn(img)
        c = torch.nn.functional.mse_loss(feats, cnn(content))
        s = torch.nn.functional.mse_loss(gram(feats), gram(cnn(style)))
        loss = c + 1e6 * s
        loss.backward()
        run[0] += 1
        return loss

    optimizer.step(closure)
""",
    "a loader for each task": """\
import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Linear(32, 16)
        self.heads = nn.ModuleDict({name: nn.Linear(16, n) for name, n in tasks.items()})

    def forward(self, x, task):
        return self.heads[task](torch.relu(self.trunk(x)))


tasks = {"colour": 5, "shape": 3, "size": 2}
model = MultiTask(tasks)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loaders = {task: make_loader(task) for task in tasks}
iters = {task: iter(l) for task, l in loaders.items()}
for step in range(10000):
    optimizer.zero_grad()
    for task in tasks:
        try:
            x, y = next(iters[task])
        except StopIteration:
            iters[task] = iter(loaders[task])
            x, y = next(iters[task])
        loss = nn.functional.cross_entropy(model(x, task), y)
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
""",
    "batches gathered in lists": """\
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, Y = torch.randn(96, 8), torch.randint(0, 3, (96,))
loader = DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=True)


from itertools import islice

model = nn.Linear(8, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    it = iter(loader)
    while True:
        group = list(islice(it, 4))
        if not group:
            break
        opt.zero_grad()
        for x, y in group:
            (F.cross_entropy(model(x), y) / len(group)).backward()
        opt.step()
""",
    "an optimizer of one's own around another": """\
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, Y = torch.randn(96, 8), torch.randint(0, 3, (96,))
loader = DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=True)


class Lookahead:
    def __init__(self, optimizer, k=5, alpha=0.5):
        self.optimizer, self.k, self.alpha, self.n = optimizer, k, alpha, 0
        self.slow = [p.detach().clone() for g in optimizer.param_groups for p in g["params"]]

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self.optimizer.step()
        self.n += 1
        if self.n % self.k == 0:
            fast = [p for g in self.optimizer.param_groups for p in g["params"]]
            with torch.no_grad():
                for s, f in zip(self.slow, fast):
                    s += self.alpha * (f - s)
                    f.copy_(s)


model = nn.Linear(8, 3)
opt = Lookahead(torch.optim.Adam(model.parameters()))
for x, y in loader:
    opt.zero_grad()
    F.cross_entropy(model(x), y).backward()
    opt.step()
""",
    "gradients of cached representations": """\
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, Y = torch.randn(96, 8), torch.randint(0, 3, (96,))
loader = DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=True)


def encode(model, x):
    return F.normalize(model(x), dim=-1)


model = nn.Linear(8, 3)
opt = torch.optim.Adam(model.parameters())
for x, y in loader:
    opt.zero_grad()
    chunks = x.split(2)
    with torch.no_grad():
        reps = [encode(model, c) for c in chunks]
    reps = torch.cat(reps).requires_grad_()
    loss = F.cross_entropy(reps @ reps.t(), torch.arange(len(x)))
    loss.backward()
    for c, g in zip(chunks, reps.grad.split(2)):
        encode(model, c).backward(gradient=g)
    opt.step()
""",
    "a closure that asks before it differentiates": """\
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, Y = torch.randn(96, 8), torch.randint(0, 3, (96,))
loader = DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=True)


model = nn.Linear(8, 3)
opt = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=5)
for x, y in loader:
    def closure():
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        if loss.requires_grad:
            loss.backward()
        return loss

    opt.step(closure)
""",
    "lazy regularisation": """\
import torch
from torch import nn

D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 1))
G = nn.Linear(4, 2)
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.0, 0.99))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.99))


def requires_grad(model, flag):
    for p in model.parameters():
        p.requires_grad = flag


for i in range(1000):
    real = torch.randn(16, 2)
    requires_grad(G, False)
    requires_grad(D, True)
    fake = G(torch.randn(16, 4))
    d_loss = nn.functional.softplus(D(fake)).mean() + nn.functional.softplus(-D(real)).mean()
    D.zero_grad()
    d_loss.backward()
    opt_d.step()
    if i % 16 == 0:
        real.requires_grad = True
        pred = D(real)
        (grad,) = torch.autograd.grad(pred.sum(), real, create_graph=True)
        r1 = grad.pow(2).sum(1).mean()
        D.zero_grad()
        (10 / 2 * r1 * 16 + 0 * pred[0]).sum().backward()
        opt_d.step()
    requires_grad(G, True)
    requires_grad(D, False)
    g_loss = nn.functional.softplus(-D(G(torch.randn(16, 4)))).mean()
    G.zero_grad()
    g_loss.backward()
    opt_g.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
