"""BUG: backward_and_clip() clips at each micro-batch, whereas the step comes only when the window is full."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DQN(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))

    def forward(self, s):
        return self.q(s)


class Learner:
    def __init__(self, window):
        self.online, self.target = DQN(), DQN()
        self.sync()
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.window = window
        self.collected = 0

    def sync(self):
        self.target.load_state_dict(self.online.state_dict())

    def td_loss(self, s, a, r, s2):
        with torch.no_grad():
            goal = r + 0.9 * self.target(s2).max(dim=1).values
        return nn.functional.smooth_l1_loss(self.online(s).gather(1, a[:, None]).squeeze(1), goal)

    def backward_and_clip(self, loss):
        (loss / self.window).backward()
        nn.utils.clip_grad_value_(self.online.parameters(), 0.01)  # expect: GL307

    def observe(self, *transition):
        loss = self.td_loss(*transition)
        self.backward_and_clip(loss)
        self.collected += 1
        if self.collected == self.window:
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.collected = 0
        return loss.item()


torch.manual_seed(180)
s = torch.randn(240, 4)
a = torch.randint(0, 2, (240,))
r = torch.where(a == (s[:, 0] > 0).long(), 1.0, -1.0)
replay = DataLoader(TensorDataset(s, a, r, s.roll(1, 0)), batch_size=16, shuffle=True)
learner = Learner(window=3)
for epoch in range(3):
    for transition in replay:
        value = learner.observe(*transition)
    learner.sync()
    print(epoch, value)
