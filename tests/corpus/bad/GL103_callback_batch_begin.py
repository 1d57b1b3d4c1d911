"""BUG: OptimizerCallback clears at every on_batch_begin although it steps only at every fourth on_batch_end."""
import torch
import torch.nn as nn


class Callback:
    runner = None

    def on_epoch_begin(self): ...
    def on_batch_begin(self): ...
    def on_after_loss(self): ...
    def on_batch_end(self): ...
    def on_epoch_end(self): ...


class OptimizerCallback(Callback):
    def __init__(self, optimizer, every=1):
        self.optimizer, self.every = optimizer, every

    def on_batch_begin(self):
        self.optimizer.zero_grad(set_to_none=True)  # expect: GL103

    def on_after_loss(self):
        (self.runner.loss / self.every).backward()

    def on_batch_end(self):
        if (self.runner.batch_no + 1) % self.every == 0:
            self.optimizer.step()


class MeterCallback(Callback):
    def on_epoch_begin(self):
        self.right = self.count = 0

    def on_batch_end(self):
        logits, target = self.runner.output, self.runner.batch[1]
        self.right += (logits.argmax(1) == target).sum().item()
        self.count += len(target)

    def on_epoch_end(self):
        print(f"epoch {self.runner.epoch} accuracy {self.right / self.count:.3f}")


class Runner:
    def __init__(self, model, criterion, callbacks):
        self.model, self.criterion, self.callbacks = model, criterion, callbacks
        for cb in callbacks:
            cb.runner = self

    def emit(self, event):
        for cb in self.callbacks:
            getattr(cb, event)()

    def fit(self, batches, num_epochs):
        for self.epoch in range(num_epochs):
            self.emit("on_epoch_begin")
            for self.batch_no, self.batch in enumerate(batches):
                self.emit("on_batch_begin")
                self.output = self.model(self.batch[0])
                self.loss = self.criterion(self.output, self.batch[1])
                self.emit("on_after_loss")
                self.emit("on_batch_end")
            self.emit("on_epoch_end")


torch.manual_seed(404)
images = torch.rand(128, 1, 6, 6)
digits = images.flatten(1)[:, ::9].argmax(1)
model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.GELU(), nn.Flatten(), nn.Linear(96, 4))
callbacks = [OptimizerCallback(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), every=4), MeterCallback()]
Runner(model, nn.CrossEntropyLoss(), callbacks).fit(list(zip(images.split(8), digits.split(8))), num_epochs=3)
