"""OK: weights are rebuilt as new leaves in every iteration, so there is never an old gradient to clear."""
import torch

torch.manual_seed(0)
x = torch.randn(80, 4)
true_w = torch.tensor([1.0, -1.0, 2.0, 0.5])
y = x @ true_w

w = torch.zeros(4, requires_grad=True)
for step in range(100):
    loss = (x @ w - y).pow(2).mean()
    loss.backward()
    w = (w - 0.1 * w.grad).detach().requires_grad_()

# and a solver per sample: leaf and optimizer are created inside the loop
answers = []
for target in (2.0, 3.0, 10.0):
    root = torch.ones(1, requires_grad=True)
    newton = torch.optim.Adam([root], lr=0.1)
    ((root ** 2 - target) ** 2).sum().backward()
    newton.step()
    answers.append(root.item())
print("w", w.detach().tolist(), "roots after one step", answers)
