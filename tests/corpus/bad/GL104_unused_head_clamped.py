"""BUG: gradients are clamped by hand on all parameters, but the auxiliary head is not in the graph and has none."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(10, 16)
        self.main = nn.Linear(16, 3)
        self.aux = nn.Linear(16, 3)

    def forward(self, x, with_aux=False):
        h = torch.relu(self.stem(x))
        return (self.main(h), self.aux(h)) if with_aux else self.main(h)


def clamp_gradients(module, bound):
    for name, p in module.named_parameters():
        p.grad.data.clamp_(-bound, bound)  # expect: GL104


def main():
    torch.manual_seed(19)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        for _ in range(5):
            x = torch.randn(16, 10)
            y = x[:, :3].argmax(1)
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            clamp_gradients(net, 0.5)
            optimizer.step()
    print("done")


if __name__ == "__main__":
    main()
