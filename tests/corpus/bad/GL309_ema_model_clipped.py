"""BUG: the momentum copy's parameters are clipped, not those of the online network that the optimizer updates."""
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader


class SelfDistillation:
    def __init__(self, net, lr=2e-3, momentum=0.95, max_norm=0.5):
        self.online = net
        self.target = copy.deepcopy(net).requires_grad_(False)
        self.predictor = nn.Linear(8, 8)
        self.params = [*self.online.parameters(), *self.predictor.parameters()]
        self.optimizer = torch.optim.Adam(self.params, lr=lr)
        self.momentum, self.max_norm = momentum, max_norm

    def loss(self, x):
        noise = lambda: 0.2 * torch.randn_like(x)
        prediction = self.predictor(self.online(x + noise()))
        with torch.no_grad():
            goal = self.target(x + noise())
        return 2 - 2 * nn.functional.cosine_similarity(prediction, goal).mean()

    def update(self, x):
        self.optimizer.zero_grad()
        loss = self.loss(x)
        loss.backward()
        nn.utils.clip_grad_norm_(self.target.parameters(), self.max_norm)  # expect: GL309
        self.optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.online.parameters()):
                slow.lerp_(fast, 1 - self.momentum)
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(192)
    learner = SelfDistillation(nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 8)))
    for epoch in range(2):
        for batch in DataLoader(torch.randn(128, 10), batch_size=16, shuffle=True):
            value = learner.update(batch)
        print(epoch, value)
