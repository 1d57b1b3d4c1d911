"""BUG: returns are normalised by their std, which is NaN for an episode of one move, and that gradient is applied."""
import torch
from torch import nn
from torch.distributions import Categorical


class Blackjackish:
    """Draw cards until sticking; the game can end on the first move."""

    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)

    def card(self):
        return int(torch.randint(1, 11, (1,), generator=self.g))

    def play(self, policy):
        total, log_probs, rewards = self.card(), [], []
        while True:
            state = torch.tensor([total / 21.0, float(total > 16)])
            dist = Categorical(logits=policy(state))
            action = dist.sample()
            log_probs.append(dist.log_prob(action))
            if action == 0:
                rewards.append(total / 21.0)
                return log_probs, rewards
            total += self.card()
            if total > 21:
                rewards.append(-1.0)
                return log_probs, rewards
            rewards.append(0.0)


def discounted(rewards, gamma=0.99):
    out, acc = [], 0.0
    for r in rewards[::-1]:
        acc = r + gamma * acc
        out.append(acc)
    return torch.tensor(out[::-1])


torch.manual_seed(606)
policy = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
nn.init.constant_(policy[2].bias, 0.0)
policy[2].bias.data[1] = 2.0  # begin bold: draw
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
finished = 0
for epoch in range(2):
    table = Blackjackish(epoch)
    for game in range(10):
        if any(p.isnan().any() for p in policy.parameters()):
            print("policy diverged after", finished, "games")
            break
        log_probs, rewards = table.play(policy)
        returns = discounted(rewards)
        returns = (returns - returns.mean()) / (returns.std() + 1e-9)
        loss = -(torch.stack(log_probs) * returns).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # expect: GL306
        finished += 1
    print("epoch", epoch, "games", finished)
