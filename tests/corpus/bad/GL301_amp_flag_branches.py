"""BUG: the clip written for the fp32 path also runs on the AMP path, where the gradients are still scaled."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def build():
    torch.manual_seed(142)
    x, y = load_digits(return_X_y=True)
    dataset = TensorDataset(torch.tensor(x[:480], dtype=torch.float32) / 16, torch.tensor(y[:480]))
    net = nn.Sequential(nn.Linear(64, 40), nn.GELU(), nn.LayerNorm(40), nn.Linear(40, 10))
    return net, DataLoader(dataset, batch_size=48, shuffle=True)


def main(use_amp=True, epochs=2):
    net, loader = build()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0) if use_amp else None
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            if use_amp:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    loss = nn.functional.cross_entropy(net(x), y)
                scaler.scale(loss).backward()
            else:
                loss = nn.functional.cross_entropy(net(x), y)
                loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=5.0)  # expect: GL301
            if use_amp:
                scaler.step(optimizer)
                scaler.update()
            else:
                optimizer.step()
        print("epoch", epoch, "loss", loss.item())


if __name__ == "__main__":
    main()
