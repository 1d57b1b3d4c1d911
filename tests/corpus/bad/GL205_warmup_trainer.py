"""BUG: warmup_updates counts optimizer updates, but after_batch() advances the LambdaLR once per micro-batch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 5
EPOCHS = 3


class Trainer:
    def __init__(self, model, loader):
        self.model = model
        self.loader = loader
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        self.total_updates = EPOCHS * len(loader) // ACCUMULATE
        self.warmup_updates = self.total_updates // 4
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self.factor)
        self.batches_done = 0

    def factor(self, update):
        if update < self.warmup_updates:
            return (update + 1) / (self.warmup_updates + 1)
        remaining = self.total_updates - update
        return max(0.0, remaining / (self.total_updates - self.warmup_updates))

    def after_batch(self):
        self.batches_done += 1
        if self.batches_done % ACCUMULATE == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.scheduler.step()  # expect: GL205

    def fit(self):
        for epoch in range(EPOCHS):
            for x, y in self.loader:
                loss = nn.functional.mse_loss(self.model(x), y)
                (loss / ACCUMULATE).backward()
                self.after_batch()
            print(epoch, loss.item(), self.scheduler.get_last_lr())


if __name__ == "__main__":
    torch.manual_seed(112)
    x = torch.randn(160, 4)
    y = torch.sin(x).sum(1, keepdim=True)
    net = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))
    Trainer(net, DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)).fit()
