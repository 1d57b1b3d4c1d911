"""OK: LBFGS calls the closure, which clears and differentiates, many times inside one step, on a new batch per step."""
import torch
from sklearn.datasets import load_digits

torch.manual_seed(0)
raw = load_digits(n_class=4)
X = torch.tensor(raw.data / 16.0)
T = torch.tensor(raw.target)
model = torch.nn.Linear(64, 4).double()
lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=6, line_search_fn="strong_wolfe")


class Objective:
    def __init__(self, x, t):
        self.x, self.t, self.calls = x, t, 0

    def __call__(self):
        self.calls += 1
        lbfgs.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(self.x), self.t)
        loss = loss + 1e-3 * model.weight.square().sum()
        loss.backward()
        return loss


calls = 0
for epoch in range(2):
    for part in torch.randperm(len(X)).chunk(3):
        objective = Objective(X[part], T[part])
        value = lbfgs.step(objective)
        calls += objective.calls
print("closure calls", calls, "loss", value.item())
