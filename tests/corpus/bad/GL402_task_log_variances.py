"""BUG: the learned task weights log_vars receive gradients but belong to no optimizer."""
import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(10, 24), nn.ReLU())
        self.heads = nn.ModuleList([nn.Linear(24, 1), nn.Linear(24, 3)])

    def forward(self, x):
        h = self.shared(x)
        return [head(h) for head in self.heads]


class UncertaintyTrainer:
    def __init__(self, model):
        self.model = model
        self.log_vars = nn.Parameter(torch.zeros(2))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-3)  # expect: GL402

    def combined(self, x, value, label):
        regression, classes = self.model(x)
        losses = torch.stack([
            nn.functional.mse_loss(regression.squeeze(1), value),
            nn.functional.cross_entropy(classes, label),
        ])
        return (torch.exp(-self.log_vars) * losses + self.log_vars).sum()

    def fit(self, x, value, label, epochs=2):
        for epoch in range(epochs):
            for rows in torch.randperm(len(x)).split(20):
                self.optimizer.zero_grad()
                loss = self.combined(x[rows], value[rows], label[rows])
                loss.backward()  # expect: GL402
                self.optimizer.step()
            print(epoch, loss.item(), self.log_vars.tolist())


torch.manual_seed(212)
x = torch.randn(160, 10)
UncertaintyTrainer(MultiTask()).fit(x, x[:, 0] * 3, x[:, 1:4].argmax(1))
