"""OK: a Newton-CG step built from double backprop with torch.autograd.grad; nothing is ever added to .grad."""
import torch

torch.manual_seed(0)
X = torch.randn(150, 5, dtype=torch.float64)
labels = (X @ torch.randn(5, dtype=torch.float64) > 0).double()
w = torch.zeros(5, dtype=torch.float64, requires_grad=True)


def objective():
    return torch.nn.functional.binary_cross_entropy_with_logits(X @ w, labels) + 0.05 * w.square().sum()


def conjugate_gradient(product, b, iterations=10):
    x = torch.zeros_like(b)
    r = b.clone()
    d = r.clone()
    for _ in range(iterations):
        if r.norm() < 1e-10:
            break
        hd = product(d)
        a = r @ r / (d @ hd)
        x = x + a * d
        new = r - a * hd
        d = new + (new @ new) / (r @ r) * d
        r = new
    return x


for it in range(6):
    loss = objective()
    (gradient,) = torch.autograd.grad(loss, w, create_graph=True)

    def product(v):
        return torch.autograd.grad(gradient, w, grad_outputs=v, retain_graph=True)[0]

    direction = conjugate_gradient(product, -gradient.detach())
    with torch.no_grad():
        w += direction
print("loss", loss.item(), "grad attribute", w.grad)
