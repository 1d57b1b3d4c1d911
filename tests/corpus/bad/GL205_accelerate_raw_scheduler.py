"""BUG: the scheduler, planned in updates, was not passed to prepare(), so it advances at every accumulated batch."""
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(116)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    x = torch.randn(192, 5)
    loader = DataLoader(TensorDataset(x, x.cumsum(1)), batch_size=12, shuffle=True)
    epochs = 2
    model = nn.Sequential(nn.Linear(5, 20), nn.ELU(), nn.Linear(20, 5))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    updates = epochs * len(loader) // accelerator.gradient_accumulation_steps
    scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=updates, power=2.0)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

    for epoch in range(epochs):
        for inputs, outputs in loader:
            with accelerator.accumulate(model):
                loss = nn.functional.mse_loss(model(inputs), outputs)
                accelerator.backward(loss)
                optimizer.step()
                scheduler.step()  # expect: GL205
                optimizer.zero_grad()
        accelerator.print(epoch, loss.item(), scheduler.get_last_lr())


if __name__ == "__main__":
    main()
