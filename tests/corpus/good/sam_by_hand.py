"""OK: sharpness-aware training without a class: perturb, clear, second backward, restore, step."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
bunch = load_digits()
pixels = torch.tensor(bunch.data, dtype=torch.float32) / 16
labels = torch.tensor(bunch.target)
net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
adam = torch.optim.Adam(net.parameters(), lr=5e-3)
rho = 0.05

for epoch in range(2):
    for idx in torch.randperm(len(pixels)).split(128):
        adam.zero_grad()
        nn.functional.cross_entropy(net(pixels[idx]), labels[idx]).backward()
        with torch.no_grad():
            norm = torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in net.parameters()]))
            steps = [rho * p.grad / (norm + 1e-12) for p in net.parameters()]
            for p, e in zip(net.parameters(), steps):
                p.add_(e)
        net.zero_grad()
        loss = nn.functional.cross_entropy(net(pixels[idx]), labels[idx])
        loss.backward()
        with torch.no_grad():
            for p, e in zip(net.parameters(), steps):
                p.sub_(e)
        adam.step()
print("loss at the perturbed point", loss.item())
