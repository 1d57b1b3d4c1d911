"""BUG: the LBFGS closure zeroes the gradients after its backward, so the solver sees none."""
import torch
from torch import nn


def make_closure(optimizer, module, inputs, outputs):
    def closure():
        residual = module(inputs) - outputs
        loss = residual.square().mean()
        loss.backward()
        optimizer.zero_grad(set_to_none=False)  # expect: GL102
        return loss

    return closure


def solve(seed):
    torch.manual_seed(seed)
    inputs = torch.randn(64, 5)
    outputs = torch.tanh(inputs @ torch.randn(5, 2))
    module = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 2))
    optimizer = torch.optim.LBFGS(module.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")
    for _ in range(5):
        loss = optimizer.step(make_closure(optimizer, module, inputs, outputs))
    return loss.item()


for seed in (0, 1):
    print(seed, solve(seed))
