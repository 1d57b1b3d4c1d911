"""BUG: the gradient is zeroed before the update by hand can use it."""
import torch
w = torch.randn(4, 1, requires_grad=True)
x, y = torch.randn(20, 4), torch.randn(20, 1)
eta = 0.05
for k in range(12):
    err = (x @ w - y).pow(2).mean()
    err.backward()
    w.grad.zero_()  # expect: GL102
    with torch.no_grad():
        w -= eta * w.grad
