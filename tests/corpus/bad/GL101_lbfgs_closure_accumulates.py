"""BUG: the LBFGS closure does not zero the gradients, so every evaluation adds to the previous ones."""
import torch

torch.manual_seed(0)


class GaussianProcessHyper(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.log_length = torch.nn.Parameter(torch.zeros(()))
        self.log_noise = torch.nn.Parameter(torch.tensor(-2.0))

    def nll(self, x, y):
        d = (x[:, None] - x[None, :]) ** 2
        k = torch.exp(-0.5 * d / torch.exp(2 * self.log_length))
        k = k + (torch.exp(self.log_noise) + 1e-4) * torch.eye(len(x))
        chol = torch.linalg.cholesky(k)
        alpha = torch.cholesky_solve(y[:, None], chol)
        return (0.5 * y @ alpha[:, 0] + chol.diagonal().log().sum()) / len(x)


x = torch.linspace(-2, 2, 30)
y = torch.sin(3 * x) + 0.1 * torch.randn(30)
gp = GaussianProcessHyper()
solver = torch.optim.LBFGS(gp.parameters(), lr=0.05, max_iter=3, history_size=5)


def closure():
    objective = gp.nll(x, y)
    objective.backward()  # expect: GL101
    return objective


for sweep in range(6):
    value = solver.step(closure)
    print(sweep, value.item())
