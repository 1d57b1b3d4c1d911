"""BUG: the index is tested before it is advanced, so each pass opens with a window of a single chunk."""
import torch
from torch import nn


class Cosine(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(1, 40)
        self.readout = nn.Linear(40, 1)

    def forward(self, t):
        return self.readout(torch.cos(self.features(t)))


class Runner:
    def __init__(self, model, every=5):
        self.model = model
        self.every = every
        self.optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

    def one_pass(self, chunks):
        index = 0
        while index < len(chunks):
            t, target = chunks[index]
            loss = (self.model(t) - target).abs().mean()
            loss.div(self.every).backward()
            if self.ready(index):  # expect: GL204
                self.optimizer.step()  # expect: GL204
                self.optimizer.zero_grad()
            index += 1
        return loss.item()

    def ready(self, index):
        return index % self.every == 0  # expect: GL204


torch.manual_seed(106)
t = torch.rand(16 * 11, 1) * 4
chunks = list(zip(t.split(11), torch.exp(-t).split(11)))
runner = Runner(Cosine())
for number in range(3):
    print("pass", number, runner.one_pass(chunks))
