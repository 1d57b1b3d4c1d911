"""OK: the usual LBFGS closure that only differentiates when gradients are enabled, and is also called once to report the loss."""
import torch

torch.manual_seed(0)
xy = torch.tensor([-1.2, 1.0], requires_grad=True)
solver = torch.optim.LBFGS([xy], lr=0.5, max_iter=5, history_size=10)


def rosenbrock(v):
    return (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2


def closure():
    if torch.is_grad_enabled():
        solver.zero_grad()
    loss = rosenbrock(xy)
    if loss.requires_grad:
        loss.backward()
    return loss


trace = []
for _ in range(25):
    solver.step(closure)
    with torch.no_grad():
        trace.append(closure().item())
print("start", trace[0], "end", trace[-1], "at", xy.detach().tolist())
