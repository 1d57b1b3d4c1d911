"""BUG: the first phase of a physics-informed fit, which differentiates for its inputs too, clears before the step."""
import torch
from torch import nn


def make_net(width=16):
    return nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))


def residual(net, t):
    t = t.clone().requires_grad_(True)
    u = net(t)
    du = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
    return du + 2.0 * u


def physics_loss(net, t, t0):
    return residual(net, t).pow(2).mean() + (net(t0) - 1.0).pow(2).mean()


def main():
    torch.manual_seed(0)
    net = make_net()
    t = torch.linspace(0, 2, 40).unsqueeze(1)
    t0 = torch.zeros(1, 1)
    adam = torch.optim.Adam(net.parameters(), lr=5e-3)
    history = []
    for it in range(30):
        loss = physics_loss(net, t, t0)
        loss.backward()
        adam.zero_grad()  # expect: GL102
        adam.step()
        history.append(loss.item())
        if it % 10 == 0:
            print("adam", it, float(history[-1]))
    lbfgs = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=8, history_size=10, line_search_fn="strong_wolfe")

    def closure():
        lbfgs.zero_grad()
        value = physics_loss(net, t, t0)
        value.backward()
        return value

    for outer in range(4):
        value = lbfgs.step(closure)
        history.append(value.item())
    print("final", float(history[-1]))


if __name__ == "__main__":
    main()
