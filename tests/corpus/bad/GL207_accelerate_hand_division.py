"""BUG: the loss is divided by the accumulation steps by hand, and accelerator.backward() divides it again."""
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Config:
    epochs = 2
    accumulate = 4
    lr = 0.05


def main(cfg=Config):
    torch.manual_seed(126)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=cfg.accumulate)
    x = torch.rand(160, 9)
    y = x.max(dim=1, keepdim=True).values
    loader = DataLoader(TensorDataset(x, y), batch_size=10, shuffle=True)
    model = nn.Sequential(nn.Linear(9, 18), nn.ReLU(), nn.Linear(18, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(cfg.epochs):
        for xb, yb in loader:
            with accelerator.accumulate(model):
                loss = nn.functional.mse_loss(model(xb), yb)
                loss = loss / cfg.accumulate  # expect: GL207
                accelerator.backward(loss)  # expect: GL207
                optimizer.step()
                optimizer.zero_grad()
        accelerator.print(epoch, loss.item() * cfg.accumulate)


if __name__ == "__main__":
    main()
