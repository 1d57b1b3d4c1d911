"""BUG: w.grad.zero_() runs before the first backward, when w.grad is still None."""
import torch

torch.manual_seed(2)
t = torch.linspace(0, 1, 80).unsqueeze(1)
design = torch.cat([torch.ones_like(t), t, t**2], dim=1)
target = 1 - 2 * t + 3 * t**2

w = torch.zeros(3, 1, requires_grad=True)
for it in range(20):
    w.grad.zero_()  # expect: GL104
    mse = (design @ w - target).pow(2).mean()
    mse.backward()
    with torch.no_grad():
        w -= 0.3 * w.grad

print("coefficients", w.detach().flatten().tolist())
