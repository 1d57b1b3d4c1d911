"""OK: Ignite's supervised trainer divides, accumulates, steps and clears by itself; handlers only move the scheduler per epoch."""
import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(192, 8)
data = TensorDataset(x, x[:, :3].argmax(1))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.8)
trainer = create_supervised_trainer(model, optimizer, nn.CrossEntropyLoss(), gradient_accumulation_steps=4)
evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy()})


@trainer.on(Events.EPOCH_COMPLETED)
def after_epoch(engine):
    scheduler.step()
    evaluator.run(DataLoader(data, batch_size=64))
    print("epoch", engine.state.epoch, evaluator.state.metrics["accuracy"])


trainer.run(DataLoader(data, batch_size=8, shuffle=True), max_epochs=3)
