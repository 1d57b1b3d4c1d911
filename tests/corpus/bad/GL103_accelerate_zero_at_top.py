"""BUG: inside accelerator.accumulate() the gradients are zeroed before the backward, dropping all but the last micro-batch."""
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(6)
    x = torch.randn(192, 8)
    y = (x.pow(2).sum(1) > 8).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

    for epoch in range(2):
        for inputs, labels in loader:
            with accelerator.accumulate(model):
                optimizer.zero_grad()  # expect: GL103
                loss = nn.functional.cross_entropy(model(inputs), labels)
                accelerator.backward(loss)
                optimizer.step()
        accelerator.print("epoch", epoch, "loss", loss.item())


main()
