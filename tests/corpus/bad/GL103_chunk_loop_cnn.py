"""BUG: zero_grad() sits inside the loop over chunks, so only the last chunk of each batch reaches the step."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
bunch = load_digits()
images = torch.tensor(bunch.images[:768], dtype=torch.float32)[:, None] / 16
labels = torch.tensor(bunch.target[:768])

net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 16, 10)
)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
CHUNKS = 4

for epoch in range(2):
    for big in torch.randperm(768).split(128):
        x, y = images[big], labels[big]
        for xb, yb in zip(x.chunk(CHUNKS), y.chunk(CHUNKS)):
            sgd.zero_grad()  # expect: GL103
            loss = F.cross_entropy(net(xb), yb) / CHUNKS
            loss.backward()
        sgd.step()

with torch.no_grad():
    print("accuracy", (net(images).argmax(1) == labels).float().mean().item())
