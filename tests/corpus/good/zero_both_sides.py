"""OK: gradients are cleared at the top of the iteration and again after the step; the second clear is only redundant."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits


def main():
    torch.manual_seed(3)
    digits = load_digits()
    images = torch.tensor(digits.data, dtype=torch.float32) / 16
    labels = torch.tensor(digits.target)
    net = torch.nn.Linear(64, 10)
    sgd = torch.optim.SGD(net.parameters(), lr=0.5)

    for epoch in range(3):
        order = torch.randperm(len(images))
        for start in range(0, len(images), 256):
            pick = order[start:start + 256]
            sgd.zero_grad()
            loss = F.cross_entropy(net(images[pick]), labels[pick])
            loss.backward()
            sgd.step()
            sgd.zero_grad()

    with torch.no_grad():
        accuracy = (net(images).argmax(1) == labels).float().mean()
    print(f"accuracy {accuracy:.3f}")


main()
