"""BUG: both optimizers are cleared at the top; the architecture's validation loss then leaks into the weights' step."""
import torch
import torch.nn.functional as F
from torch import nn

PRIMITIVES = {
    "skip": lambda c: nn.Identity(),
    "conv1": lambda c: nn.Conv1d(c, c, 1),
    "conv3": lambda c: nn.Conv1d(c, c, 3, padding=1),
    "pool": lambda c: nn.AvgPool1d(3, 1, 1),
}


class MixedOp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ops = nn.ModuleList(make(c) for make in PRIMITIVES.values())

    def forward(self, x, weights):
        return sum(w * op(x) for w, op in zip(weights, self.ops))


class SuperNet(nn.Module):
    def __init__(self, c=6, layers=2):
        super().__init__()
        self.stem = nn.Conv1d(2, c, 3, padding=1)
        self.cells = nn.ModuleList(MixedOp(c) for _ in range(layers))
        self.classifier = nn.Linear(c, 3)
        self.alphas = nn.Parameter(1e-3 * torch.randn(layers, len(PRIMITIVES)))

    def arch_parameters(self):
        return [self.alphas]

    def weight_parameters(self):
        return [p for name, p in self.named_parameters() if name != "alphas"]

    def forward(self, x):
        h = self.stem(x)
        for cell, alpha in zip(self.cells, self.alphas.softmax(-1)):
            h = torch.relu(cell(h, alpha))
        return self.classifier(h.mean(2))


def search(net, train, valid, epochs):
    w_optim = torch.optim.SGD(net.weight_parameters(), 0.05, momentum=0.9, weight_decay=3e-4)
    a_optim = torch.optim.Adam(net.arch_parameters(), 3e-3, betas=(0.5, 0.999))
    for epoch in range(epochs):
        for (x, y), (vx, vy) in zip(train, valid):
            a_optim.zero_grad()
            w_optim.zero_grad()  # expect: GL401
            F.cross_entropy(net(vx), vy).backward()
            a_optim.step()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            w_optim.step()  # expect: GL401
        best = [list(PRIMITIVES)[k] for k in net.alphas.argmax(1).tolist()]
        print(f"epoch {epoch} loss {loss.item():.3f} genotype {best}")


torch.manual_seed(4011)
x = torch.randn(160, 2, 10)
y = x.mean(2)[:, 0].mul(4).round().long().remainder(3)
batches = list(zip(x.split(16), y.split(16)))
search(SuperNet(), batches[:5], batches[5:], epochs=3)
