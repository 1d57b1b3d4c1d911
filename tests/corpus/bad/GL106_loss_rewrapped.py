"""BUG: the loss is rebuilt with torch.tensor(loss.item(), requires_grad=True), which cuts it off from the model."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def as_scalar_loss(values):
    loss = values.mean()
    return torch.tensor(loss.item(), requires_grad=True)


def train(model, loader, optimizer, epochs=3):
    for epoch in range(epochs):
        for features, hours in loader:
            optimizer.zero_grad()
            predicted = model(features).squeeze(1)
            loss = as_scalar_loss((predicted - hours).abs())
            loss.backward()
            optimizer.step()  # expect: GL106
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(50)
    features = torch.rand(120, 4)
    hours = features @ torch.tensor([1.0, 2.0, 0.5, -1.0])
    model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1))
    train(model, DataLoader(TensorDataset(features, hours), batch_size=20), torch.optim.Adam(model.parameters()))
