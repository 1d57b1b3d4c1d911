"""BUG: the Accelerate loop steps at every batch and never calls optimizer.zero_grad()."""
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def build_data(n=160):
    x = torch.randn(n, 1, 20)
    y = x.mean(dim=(1, 2)).gt(0).long()
    return DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)


def training_function(config):
    set_seed(config["seed"])
    accelerator = Accelerator(cpu=True)
    model = nn.Sequential(
        nn.Conv1d(1, 4, 5), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(16, 2)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    model, optimizer, loader = accelerator.prepare(model, optimizer, build_data())
    for epoch in range(config["num_epochs"]):
        model.train()
        for inputs, targets in loader:
            outputs = model(inputs)
            loss = nn.functional.cross_entropy(outputs, targets)
            accelerator.backward(loss)  # expect: GL101
            optimizer.step()
        accelerator.print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    training_function({"lr": 1e-3, "num_epochs": 3, "seed": 42})
