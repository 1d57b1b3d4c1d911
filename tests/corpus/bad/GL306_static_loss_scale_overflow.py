"""BUG: a fixed loss scale overflows float16 and the infinite gradients are stepped without a check."""
import torch
from torch import nn

LOSS_SCALE = 2.0**24


def half_precision_step(model, optimizer, x, y):
    with torch.autocast("cpu", dtype=torch.float16):
        prediction = model(x)
    loss = nn.functional.mse_loss(prediction.float(), y)
    optimizer.zero_grad()
    (loss * LOSS_SCALE).backward()
    with torch.no_grad():
        for p in model.parameters():
            p.grad /= LOSS_SCALE
    optimizer.step()  # expect: GL306
    return loss.item()


def main():
    torch.manual_seed(176)
    x = torch.randn(96, 6)
    y = 10 * x[:, :1]
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        for xb, yb in zip(x.split(16), y.split(16)):
            loss = half_precision_step(model, optimizer, xb, yb)
        print(epoch, loss)


main()
