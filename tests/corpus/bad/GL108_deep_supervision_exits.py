"""BUG: each exit's loss is back-propagated by itself and the sum of all exits once more."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MultiExit(nn.Module):
    def __init__(self, width=16, depth=3, classes=4):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(depth))
        self.exits = nn.ModuleList(nn.Linear(width, classes) for _ in range(depth))

    def forward(self, x):
        outputs = []
        for block, head in zip(self.blocks, self.exits):
            x = block(x)
            outputs.append(head(x))
        return outputs


def training_step(model, optimizer, x, y):
    optimizer.zero_grad()
    losses = [nn.functional.cross_entropy(out, y) for out in model(x)]
    for early in losses[:-1]:
        early.backward(retain_graph=True)
    overall = torch.stack(losses).sum()
    overall.backward()  # expect: GL108
    optimizer.step()
    return overall.item()


if __name__ == "__main__":
    torch.manual_seed(64)
    x = torch.randn(160, 16)
    y = x[:, :4].argmax(1)
    model = MultiExit()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(2):
        for xb, yb in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
            value = training_step(model, optimizer, xb, yb)
        print(epoch, value)
