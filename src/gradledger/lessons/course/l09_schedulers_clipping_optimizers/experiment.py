"""Counts in updates and in micro-batches, and follows gradients that leak from one optimizer to another."""

import warnings

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR

import gradledger


def rates():
    """A cosine planned for eight updates, advanced per update and per micro-batch."""
    used = {"per update": [], "per micro-batch": []}
    for pace, rates in used.items():
        w = torch.zeros(1, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=1.0)
        scheduler = CosineAnnealingLR(optimizer, T_max=8)
        for i in range(32):
            (w.sum() / 4).backward()
            if (i + 1) % 4 == 0:
                rates.append(optimizer.param_groups[0]["lr"])
                optimizer.step()
                optimizer.zero_grad()
                if pace == "per update":
                    scheduler.step()
            if pace == "per micro-batch":
                _quietly(scheduler.step)

    print("update           " + "".join(f"{n:6}" for n in range(1, 9)))
    for pace, rates in used.items():
        print(f"{pace:17}" + "".join(f"{rate:6.2f}" for rate in rates))
    return {"used": used, "fourth": round(used["per micro-batch"][3], 2)}


def skipped_rate():
    """The scheduler before the optimizer: PyTorch warns once."""
    w = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=1.0)
    scheduler = LinearLR(optimizer, 1.0, 0.0, total_iters=4)
    rates = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(4):
            w.sum().backward()
            scheduler.step()  # <- too early
            rates.append(round(optimizer.param_groups[0]["lr"], 2))
            optimizer.step()
            optimizer.zero_grad()
    print(f"planned:  [1.0, 0.75, 0.5, 0.25]\nused:     {rates}")
    print("warning: ", str(caught[0].message).split(". ")[0])
    return {"last": rates[-1], "warned": len(caught) > 0}


def clip_in_the_window():
    """Four equal micro-batches, bound 1: clipped after each, and once."""
    w = torch.zeros(4, requires_grad=True)  # w[k] belongs to micro-batch k
    for k in range(4):
        w[k].backward()
        nn.utils.clip_grad_norm_([w], max_norm=1.0)
        print(f"after {k + 1}: ", *(f"{g:.3f}" for g in w.grad.tolist()))
    share = (w.grad[0] / w.grad[3]).item()

    w.grad = None
    for k in range(4):
        w[k].backward()
    nn.utils.clip_grad_norm_([w], max_norm=1.0)
    print("once:    ", *(f"{g:.3f}" for g in w.grad.tolist()))
    return {"share": round(share, 3)}


def the_leak():
    """The generator's loss goes through the critic. What does it leave there?"""
    generator, critic, real, noise = _gan()
    fake = generator(noise)
    (-critic(fake).mean()).backward()  # the generator's loss
    print(f"generator's gradient: norm {_norm(generator):.3f}")
    print(f"critic's gradient:    norm {_norm(critic):.3f}, foreign")
    left = _flat(critic)

    loss = critic(fake.detach()).mean() - critic(real).mean()  # the critic's own
    own = torch.autograd.grad(loss, critic.parameters(), retain_graph=True)
    own = torch.cat([g.flatten() for g in own])
    loss.backward()
    both = _flat(critic)
    off = ((both - own).norm() / own.norm()).item()
    print(f"what the critic would apply is off by {off:.0%} of its own gradient")

    critic.zero_grad()
    (-critic(real).mean()).backward()
    apart = (both - _flat(critic)).abs().max().item()
    print(f"against the gradient of the real half alone: {apart:.0e}")
    return {"left": left.norm().item(), "off": off, "fake_gone": apart < 1e-6}


def stopped():
    """Three ways to stop it, and what each leaves in the critic."""
    generator, critic, real, noise = _gan()

    (-critic(generator(noise)).mean()).backward()
    critic.zero_grad()
    print(f"critic cleared before its own pass:        {_norm(critic):.3f}")
    cleared = _norm(critic)

    critic.requires_grad_(False)
    (-critic(generator(noise)).mean()).backward()
    critic.requires_grad_(True)
    print(f"critic frozen in the generator's pass:     {_norm(critic):.3f}")

    generator.zero_grad()
    loss = critic(generator(noise).detach()).mean() - critic(real).mean()
    loss.backward()
    print(f"the other way, fake.detach(), generator:   {_norm(generator):.3f}")
    return {"cleared": cleared, "generator": _norm(generator)}


def training():
    """Two hundred rounds with the leak and without."""
    ends = {}
    for way in ("clean", "leaking"):
        generator, critic, real, _ = _gan()
        g_opt = torch.optim.SGD(generator.parameters(), lr=0.02)
        c_opt = torch.optim.SGD(critic.parameters(), lr=0.02)
        for _ in range(200):
            noise = torch.randn(64, 2)
            g_opt.zero_grad()
            (-critic(generator(noise)).mean()).backward()
            g_opt.step()
            if way == "clean":
                c_opt.zero_grad()
            fake = generator(noise).detach()
            gap = critic(fake).mean() - critic(real).mean()
            (gap + critic(real).square().mean()).backward()
            c_opt.step()
            c_opt.zero_grad()
        ends[way] = nn.utils.parameters_to_vector(critic.parameters())
        print(f"{way:8} critic's gap between fake and real: {gap.item():+.3f}")
    apart = (ends["clean"] - ends["leaking"]).norm().item()
    print(f"distance between the two critics: {apart:.2f}")
    return {"apart": apart}


def by_construction():
    """Two accumulators: each pass reaches its own parameters only."""
    generator, critic, _, noise = _gan()
    g_opt = torch.optim.SGD(generator.parameters(), lr=0.02)
    c_opt = torch.optim.SGD(critic.parameters(), lr=0.02)
    with (
        gradledger.Accumulator(generator, g_opt) as g_acc,
        gradledger.Accumulator(critic, c_opt),
    ):
        g_acc.backward(-critic(generator(noise)).mean(), count=64)
        left = _norm(critic)
        print(f"critic's gradient after the generator's pass: {left:.3f}")
    return {"left": left}


def _quietly(advance):
    """PyTorch warns of an advance before any step; here we know."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        advance()


def _gan():
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    return generator, critic, torch.randn(64, 2) + 2.0, torch.randn(64, 2)


def _flat(module):
    return torch.cat([p.grad.flatten() for p in module.parameters()])


def _norm(module):
    parameters = module.parameters()
    grads = [p.grad.flatten() for p in parameters if p.grad is not None]
    return torch.cat(grads).norm().item() if grads else 0.0


def _reference():
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    data, noise = torch.randn(64, 2) + 2.0, torch.randn(64, 2)
    generator, critic, data, noise = generator.double(), critic.double(), data.double(), noise.double()

    def step(module, loss):
        gradients = torch.autograd.grad(loss, list(module.parameters()))
        with torch.no_grad():
            for p, g in zip(module.parameters(), gradients, strict=True):
                p -= 0.05 * g

    for _ in range(40):
        step(generator, -critic(generator(noise)).mean())
        fake = generator(noise).detach()
        step(critic, critic(fake).mean() - critic(data).mean() + critic(data).square().mean())
    return critic.state_dict()
