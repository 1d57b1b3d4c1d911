"""BUG: configure() returns two optimizers, both are zeroed, and only the first one is stepped."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SpeechNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.GRU(5, 12, batch_first=True)
        self.head = nn.Linear(12, 4)

    def forward(self, x):
        return self.head(self.backbone(x)[0].mean(dim=1))


class Module:
    def __init__(self, net):
        self.net = net
        self.optimizers = self.configure()

    def configure(self):
        fast = torch.optim.Adam(self.net.head.parameters(), lr=1e-2)
        slow = torch.optim.SGD(self.net.backbone.parameters(), lr=1e-2)  # expect: GL404
        return fast, slow

    def step(self, batch):
        x, y = batch
        for opt in self.optimizers:
            opt.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(self.net(x), y)
        loss.backward()  # expect: GL404
        self.optimizers[0].step()
        return loss.item()


torch.manual_seed(232)
frames = torch.randn(128, 9, 5)
loader = DataLoader(TensorDataset(frames, frames.sum(1)[:, :4].argmax(1)), batch_size=16, shuffle=True)
module = Module(SpeechNet())
for epoch in range(2):
    losses = [module.step(batch) for batch in loader]
    print(epoch, sum(losses) / len(losses))
