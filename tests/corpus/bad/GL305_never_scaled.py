"""BUG: loss.backward() is called on the plain loss and scaler.step() asserts because nothing was ever scaled."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Experiment:
    def __init__(self, hidden=12):
        torch.manual_seed(170)
        self.net = nn.Sequential(nn.Linear(3, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.optimizer = torch.optim.RMSprop(self.net.parameters(), lr=1e-3)
        self.scaler = torch.amp.GradScaler("cpu")

    def train(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = nn.functional.mse_loss(self.net(x), y)
            loss.backward()
            self.scaler.step(self.optimizer)  # expect: GL305
            self.scaler.update()
        return loss.item()


x = torch.rand(90, 3)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=15)
experiment = Experiment()
for _ in range(2):
    print(experiment.train(loader))
