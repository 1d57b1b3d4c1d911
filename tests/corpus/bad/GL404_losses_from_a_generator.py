"""BUG: the value's optimizer is zeroed in turn with the policy's, and never steps."""
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.pi, self.v = nn.Linear(4, 2), nn.Linear(4, 1)
        self.optims = {
            "pi": torch.optim.Adam(self.pi.parameters(), lr=1e-3),
            "v": torch.optim.Adam(self.v.parameters(), lr=1e-3),  # expect: GL404
        }

    def losses(self, s, a, ret):
        d = torch.distributions.Categorical(logits=self.pi(s))
        val = self.v(s).squeeze(-1)
        yield "pi", -(d.log_prob(a) * (ret - val.detach())).mean()
        yield "v", (val - ret).pow(2).mean()

    def update(self, s, a, ret):
        for name, loss in self.losses(s, a, ret):
            self.optims[name].zero_grad()
            loss.backward()  # expect: GL404
            if name == "pi":
                self.optims[name].step()


torch.manual_seed(0)
agent = Agent()
for _ in range(25):
    agent.update(torch.randn(16, 4), torch.randint(0, 2, (16,)), torch.randn(16))
print("done")
