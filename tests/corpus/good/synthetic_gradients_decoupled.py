"""OK: decoupled modules step on predicted gradients by h.backward(g); the predictors then learn from the true ones, each with its own clear."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class GradientPredictor(nn.Module):
    """Guesses the gradient of the loss at a hidden layer from the activation and the label."""

    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width + 10, 32), nn.ReLU(), nn.Linear(32, width))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, h, onehot):
        return self.net(torch.cat([h, onehot], 1))


class Stage:
    def __init__(self, module, width=None, lr=3e-3):
        self.module = module
        self.optimizer = torch.optim.Adam(module.parameters(), lr=lr)
        self.predictor = GradientPredictor(width) if width else None
        if self.predictor:
            self.predictor_optimizer = torch.optim.Adam(self.predictor.parameters(), lr=lr)

    def forward_and_update(self, h_in, onehot):
        """Runs the module, updates it at once with the predicted gradient, and passes a leaf on."""
        self.optimizer.zero_grad()
        h_out = self.module(h_in)
        self.prediction = self.predictor(h_out.detach(), onehot)
        h_out.backward(self.prediction.detach())
        self.optimizer.step()
        self.leaf = h_out.detach().requires_grad_(True)
        return self.leaf

    def learn_from_truth(self, scale):
        self.predictor_optimizer.zero_grad()
        loss = F.mse_loss(scale * self.prediction, scale * self.leaf.grad)
        loss.backward()
        self.predictor_optimizer.step()
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=70)
    args = parser.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    loader = DataLoader(TensorDataset(x[:1400], y[:1400]), args.batch_size, shuffle=True)
    first = Stage(nn.Sequential(nn.Linear(64, 48), nn.Tanh()), width=48)
    second = Stage(nn.Sequential(nn.Linear(48, 32), nn.Tanh()), width=32)
    last = Stage(nn.Linear(32, 10))
    for epoch in range(args.epochs):
        totals = torch.zeros(3)
        for xb, yb in loader:
            onehot = F.one_hot(yb, 10).float()
            h1 = first.forward_and_update(xb, onehot)
            h2 = second.forward_and_update(h1, onehot)
            last.optimizer.zero_grad()
            loss = F.cross_entropy(last.module(h2), yb)
            loss.backward()
            last.optimizer.step()
            totals += torch.tensor([loss.item(), second.learn_from_truth(len(xb)), first.learn_from_truth(len(xb))])
        with torch.no_grad():
            logits = last.module(second.module(first.module(x[1400:])))
            accuracy = (logits.argmax(1) == y[1400:]).float().mean().item()
        print(f"epoch {epoch} loss {totals[0] / len(loader):.3f} predictor errors {[round(v, 4) for v in (totals[1:] / len(loader)).tolist()]} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
