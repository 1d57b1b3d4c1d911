"""BUG: scheduler.step() is called just before optimizer.step() instead of after it."""
import torch
from torch import nn


def cyclic_batches(x, y, size):
    while True:
        order = torch.randperm(len(x))
        for pick in order.split(size):
            yield x[pick], y[pick]


def main(max_steps=30):
    torch.manual_seed(124)
    x = torch.randn(100, 3, 10, 10)
    y = x.mean(dim=(2, 3)).argmax(1)
    model = nn.Sequential(
        nn.Conv2d(3, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=max_steps + 1)
    stream = cyclic_batches(x, y, 20)
    for step in range(max_steps):
        xb, yb = next(stream)
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        scheduler.step()  # expect: GL206
        optimizer.step()
        if step % 10 == 9:
            print(step + 1, loss.item(), scheduler.get_last_lr()[0])


if __name__ == "__main__":
    main()
