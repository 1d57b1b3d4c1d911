"""OK: windows of 4 over epochs of 6 batches: every second window spans two epochs by design, and nothing is left over at the end."""
import torch
from torch import nn


class Trainer:
    def __init__(self, model, every):
        self.model, self.every, self.micro, self.updates = model, every, 0, 0
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)
        self.opt.zero_grad()

    def feed(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        (loss / self.every).backward()
        self.micro += 1
        if self.micro % self.every == 0:
            self.opt.step()
            self.opt.zero_grad()
            self.updates += 1
        return loss.item()


torch.manual_seed(0)
trainer = Trainer(nn.Linear(3, 1), every=4)
data = torch.randn(6, 10, 3)
for epoch in range(6):
    mean = sum(trainer.feed(x, x @ torch.ones(3, 1)) for x in data) / len(data)
assert trainer.micro % trainer.every == 0
print("updates", trainer.updates, "loss", mean)
