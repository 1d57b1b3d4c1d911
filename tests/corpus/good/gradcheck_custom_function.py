"""OK: gradcheck and gradgradcheck run many backward passes on a custom function before it is used in an ordinary loop."""
import torch
from torch.autograd import gradcheck, gradgradcheck


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x ** 2 * grad


torch.manual_seed(0)
probe = torch.randn(5, dtype=torch.double, requires_grad=True)
assert gradcheck(Cube.apply, (probe,)) and gradgradcheck(Cube.apply, (probe,))

layer = torch.nn.Linear(5, 1)
opt = torch.optim.Adam(layer.parameters(), lr=3e-2)
for batch in torch.randn(60, 16, 5):
    opt.zero_grad()
    loss = (Cube.apply(layer(batch)) - batch[:, :1]).abs().mean()
    loss.backward()
    opt.step()
print("loss", loss.item())
