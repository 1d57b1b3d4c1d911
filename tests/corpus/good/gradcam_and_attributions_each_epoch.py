"""OK: Grad-CAM and integrated gradients are logged after each epoch; what their backwards leave in the weights is cleared at the next batch."""
import contextlib

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 12, 3, padding=1)
        self.fc = nn.Linear(12, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        return self.fc(x.mean((2, 3)))


class GradCAM:
    def __init__(self, model, layer):
        self.model = model
        self.handles = [layer.register_forward_hook(self._keep), layer.register_full_backward_hook(self._gradient)]

    def _keep(self, module, inputs, output):
        self.activation = output.detach()

    def _gradient(self, module, grad_input, grad_output):
        self.gradient = grad_output[0].detach()

    def __call__(self, x, target):
        self.model.zero_grad()
        score = self.model(x)[torch.arange(len(x)), target].sum()
        score.backward()
        weights = self.gradient.mean((2, 3), keepdim=True)
        cam = F.relu((weights * self.activation).sum(1))
        return cam / cam.amax((1, 2), keepdim=True).clamp_min(1e-8)

    def remove(self):
        for handle in self.handles:
            handle.remove()


def integrated_gradients(model, x, target, steps=6):
    total = torch.zeros_like(x)
    for k in range(1, steps + 1):
        point = (x * k / steps).requires_grad_(True)
        model(point)[torch.arange(len(x)), target].sum().backward()
        total += point.grad
    return x * total / steps


@contextlib.contextmanager
def evaluating(model):
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


def explain(model, x, y):
    with evaluating(model):
        cam = GradCAM(model, model.conv2)
        heat = cam(x, y)
        cam.remove()
        attribution = integrated_gradients(model, x, y)
    return heat.mean().item(), attribution.abs().sum((1, 2, 3)).mean().item()


def main():
    torch.manual_seed(0)
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(digits.target)
    loader = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=60, shuffle=True)
    model = SmallCNN()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(3):
        model.train()
        running = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
            running += loss.item()
        heat, attribution = explain(model, x[1200:1232], y[1200:1232])
        with evaluating(model), torch.no_grad():
            accuracy = (model(x[1200:]).argmax(1) == y[1200:]).float().mean().item()
        print(f"epoch {epoch} loss {running / len(loader):.3f} accuracy {accuracy:.3f} cam {heat:.3f} attribution {attribution:.3f}")


if __name__ == "__main__":
    main()
