"""OK: the textbook linear regression on two raw tensors, cleared by w.grad.zero_() right after each update."""
import torch

torch.manual_seed(1)
x = torch.linspace(0, 1, 50)
y = 3 * x + 2 + 0.05 * torch.randn(50)

w = torch.randn((), requires_grad=True)
b = torch.zeros((), requires_grad=True)

for it in range(200):
    prediction = w * x + b
    loss = ((prediction - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.3 * w.grad
        b -= 0.3 * b.grad
        w.grad.zero_()
        b.grad.zero_()

print(f"y = {w.item():.2f} x + {b.item():.2f}")
