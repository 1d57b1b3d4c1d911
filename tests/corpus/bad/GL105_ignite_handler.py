"""BUG: the update function steps, and an ITERATION_COMPLETED handler steps again on the same gradients."""
import torch
from ignite.engine import Engine, Events
from torch import nn

torch.manual_seed(33)
model = nn.Sequential(nn.Linear(5, 16), nn.LeakyReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(120, 5)
y = x.abs().sum(1, keepdim=True)


def process(engine, batch):
    inputs, targets = batch
    model.train()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()


trainer = Engine(process)


@trainer.on(Events.ITERATION_COMPLETED)
def apply_update(engine):
    optimizer.step()  # expect: GL105


@trainer.on(Events.EPOCH_COMPLETED)
def report(engine):
    print("epoch", engine.state.epoch, "loss", engine.state.output)


trainer.run(list(zip(x.split(15), y.split(15))), max_epochs=3)
