"""OK: MAML with one outer backward per task, divided by the number of tasks, and a single meta step for the batch of tasks."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
theta = [torch.randn(16, 1) * 0.5, torch.zeros(16), torch.randn(1, 16) * 0.2, torch.zeros(1)]
theta = [t.requires_grad_() for t in theta]
meta_opt = torch.optim.SGD(theta, lr=0.01)


def forward(x, params):
    w1, b1, w2, b2 = params
    return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)


def adapt(params, x, y, lr=0.05):
    loss = F.mse_loss(forward(x, params), y)
    grads = torch.autograd.grad(loss, params, create_graph=True)
    return [p - lr * g for p, g in zip(params, grads)]


tasks_per_batch = 3
for it in range(20):
    meta_opt.zero_grad()
    total = 0.0
    for t in range(tasks_per_batch):
        slope = torch.randn(())
        xs, xq = torch.randn(8, 1), torch.randn(8, 1)
        adapted = adapt(theta, xs, slope * xs)
        loss = F.mse_loss(forward(xq, adapted), slope * xq) / tasks_per_batch
        loss.backward()
        total += loss.item()
    meta_opt.step()
print("meta loss", total)
