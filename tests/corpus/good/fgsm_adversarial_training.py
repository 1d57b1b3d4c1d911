"""OK: the attack's backward also fills the model, but model.zero_grad() comes before the training backward."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
digits = load_digits()
X = torch.tensor(digits.data, dtype=torch.float32) / 16
Y = torch.tensor(digits.target)
model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)


def fgsm(x, y, eps):
    x = x.clone().detach().requires_grad_(True)
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    return (x + eps * x.grad.sign()).clamp(0, 1).detach()


for epoch in range(2):
    for idx in torch.randperm(len(X)).split(150):
        adversarial = fgsm(X[idx], Y[idx], 0.05)
        model.zero_grad()
        loss = nn.functional.cross_entropy(model(adversarial), Y[idx])
        loss.backward()
        optimizer.step()
print("adversarial loss", loss.item())
