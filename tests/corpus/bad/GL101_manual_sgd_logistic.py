"""BUG: the hand-written gradient descent never resets w.grad and b.grad."""
import torch

g = torch.Generator().manual_seed(11)
x = torch.randn(300, 6, generator=g)
labels = (x @ torch.randn(6, generator=g) > 0).float()

w = (0.1 * torch.randn(6, generator=g)).requires_grad_()
b = torch.zeros((), requires_grad=True)
lr = 0.2

for epoch in range(4):
    for k in range(0, 300, 50):
        xb, yb = x[k:k + 50], labels[k:k + 50]
        p = torch.sigmoid(xb @ w + b).clamp(1e-6, 1 - 1e-6)
        nll = -(yb * p.log() + (1 - yb) * (1 - p).log()).mean()
        nll.backward()  # expect: GL101
        with torch.no_grad():
            w -= lr * w.grad
            b -= lr * b.grad

accuracy = ((x @ w + b > 0).float() == labels).float().mean()
print("accuracy", accuracy.item())
