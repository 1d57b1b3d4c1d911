"""BUG: the base class clears gradients at the start of an epoch, but every batch takes a step."""
import torch
from torch import nn


class Loop:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def on_epoch_start(self):
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)

    def on_batch_start(self):
        pass

    def loss(self, batch):
        raise NotImplementedError

    def run(self, data, epochs):
        for epoch in range(epochs):
            self.on_epoch_start()
            for batch in data:
                self.on_batch_start()
                loss = self.loss(batch)
                loss.backward()  # expect: GL101
                self.optimizer.step()
            print("epoch", epoch, "last loss", loss.item())


class DenoisingLoop(Loop):
    def __init__(self, model, optimizer, noise):
        super().__init__(model, optimizer)
        self.noise = noise

    def on_batch_start(self):
        self.noise *= 0.99

    def loss(self, batch):
        corrupted = batch + self.noise * torch.randn_like(batch)
        return nn.functional.mse_loss(self.model(corrupted), batch)


torch.manual_seed(5)
signal = torch.sin(torch.linspace(0, 40, 1600)).view(-1, 20)
model = nn.Sequential(nn.Linear(20, 8), nn.ReLU(), nn.Linear(8, 20))
loop = DenoisingLoop(model, torch.optim.RMSprop(model.parameters(), lr=1e-3), noise=0.3)
loop.run(signal.split(10), epochs=3)
