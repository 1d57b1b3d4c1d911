"""BUG: accelerator.clip_grad_norm_() is called for each accumulated batch, without asking accelerator.sync_gradients."""
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(182)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=3)
    x = torch.randn(144, 6)
    dataset = TensorDataset(x, x.softmax(1))
    model = nn.Sequential(nn.Linear(6, 18), nn.ReLU(), nn.Linear(18, 6))
    model, optimizer, loader = accelerator.prepare(
        model, torch.optim.SGD(model.parameters(), lr=0.5), DataLoader(dataset, batch_size=12, shuffle=True)
    )
    for epoch in range(2):
        for inputs, targets in loader:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(inputs), targets)
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(model.parameters(), 0.05)  # expect: GL307
                optimizer.step()
                optimizer.zero_grad()
        accelerator.print("epoch", epoch, "loss", loss.item())


if __name__ == "__main__":
    main()
