"""BUG: scaler.update() is never called, so the second scaler.step() raises."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def step(model, batch, optimizer, scaler):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)  # expect: GL303
    return loss.item()


def main():
    torch.manual_seed(152)
    x = torch.randn(120, 6)
    loader = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=20, shuffle=True)
    model = nn.Linear(6, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=128.0)
    for epoch in range(2):
        losses = [step(model, batch, optimizer, scaler) for batch in loader]
        print(epoch, sum(losses) / len(losses))


if __name__ == "__main__":
    main()
