"""BUG: the loss is divided by the window's length, and average_gradients() divides the gradients once more."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def average_gradients(parameters, count):
    for p in parameters:
        if p.grad is not None:
            p.grad.div_(count)  # expect: GL207


def train(model, loader, epochs, count):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for epoch in range(epochs):
        for i, (x, y) in enumerate(loader):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x), y) / count  # expect: GL207
            loss.backward()  # expect: GL207
            if (i + 1) % count == 0:
                average_gradients(model.parameters(), count)  # expect: GL207
                optimizer.step()
                optimizer.zero_grad()
        print("epoch", epoch, loss.item() * count)


if __name__ == "__main__":
    torch.manual_seed(132)
    x = torch.randn(180, 5)
    y = (x[:, :1] > x[:, 1:2]).float()
    train(nn.Linear(5, 1), DataLoader(TensorDataset(x, y), batch_size=15), epochs=3, count=3)
