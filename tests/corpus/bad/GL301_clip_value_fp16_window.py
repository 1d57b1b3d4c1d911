"""BUG: clip_grad_value_ bounds float16-scaled gradients at the end of the window without unscale_."""
import torch
from torch import nn
from torch.nn.utils import clip_grad_value_


def training_loop(model, batches, optimizer, scaler, window):
    optimizer.zero_grad()
    for number, (x, y) in enumerate(batches, start=1):
        with torch.autocast("cpu", dtype=torch.float16):
            prediction = model(x)
        loss = nn.functional.mse_loss(prediction.float(), y)
        scaler.scale(loss / window).backward()
        if number % window != 0:
            continue
        clip_grad_value_(model.parameters(), 0.1)  # expect: GL301
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(140)
    x = torch.randn(128, 10)
    y = x[:, :2] - x[:, 2:4]
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    batches = list(zip(x.split(8), y.split(8)))
    for epoch in range(3):
        print(epoch, training_loop(model, batches, optimizer, scaler, window=4))
