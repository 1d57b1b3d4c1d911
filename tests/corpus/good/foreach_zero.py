"""OK: torch._foreach_zero_ clears the whole list of gradients in one call after each update."""
import torch

torch.manual_seed(5)
params = [torch.randn(8, 4, requires_grad=True), torch.zeros(4, requires_grad=True), torch.randn(4, 1, requires_grad=True)]
solver = torch.optim.SGD(params, lr=0.02)
data = torch.randn(256, 8)
goal = data[:, :1] - data[:, 1:2]

for chunk_x, chunk_y in list(zip(data.split(32), goal.split(32))) * 5:
    hidden = torch.tanh(chunk_x @ params[0] + params[1])
    loss = ((hidden @ params[2]) - chunk_y).pow(2).mean()
    loss.backward()
    solver.step()
    torch._foreach_zero_([p.grad for p in params])

print("final", loss.item())
