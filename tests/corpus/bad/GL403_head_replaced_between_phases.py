"""BUG: the head is replaced between two phases, and the optimizer keeps the old one."""
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.fc = nn.Linear(16, n)

    def forward(self, x):
        return self.fc(self.features(x))


def pretrain(model, opt, n):
    for _ in range(n):
        x = torch.randn(16, 6)
        loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
        opt.zero_grad()
        loss.backward()  # expect: GL403|GL402
        opt.step()
    return loss.item()


torch.manual_seed(0)
model = Classifier(3)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)  # expect: GL403|GL402
print(pretrain(model, opt, 10))
model.fc = nn.Linear(model.fc.in_features, 3)
print(pretrain(model, opt, 20))
