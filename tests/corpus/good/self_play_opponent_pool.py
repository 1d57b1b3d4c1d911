"""OK: REINFORCE against frozen snapshots of itself; the pool holds copies, only the learner has gradients and an optimizer."""
import copy
import random

import torch
from torch import nn
from torch.distributions import Categorical

PAYOFF = torch.tensor([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


class Player(nn.Module):
    """Repeated rock-paper-scissors: sees the last two joint moves."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 3))

    def forward(self, history):
        return Categorical(logits=self.net(history))


class Pool:
    def __init__(self, first, size):
        self.size, self.members, self.ratings = size, [], []
        self.add(first)

    def add(self, player):
        snapshot = copy.deepcopy(player).eval()
        snapshot.requires_grad_(False)
        snapshot.zero_grad(set_to_none=True)
        self.members.append(snapshot)
        self.ratings.append(0.0)
        if len(self.members) > self.size:
            worst = min(range(len(self.ratings) - 1), key=self.ratings.__getitem__)
            self.members.pop(worst)
            self.ratings.pop(worst)

    def draw(self):
        index = random.randrange(len(self.members))
        return index, self.members[index]

    def report(self, index, reward):
        self.ratings[index] += 0.1 * (-reward - self.ratings[index])


def encode(mine, theirs):
    return torch.cat([torch.eye(3)[mine], torch.eye(3)[theirs]], 1)


def play(learner, opponent, games, rounds):
    history, mirrored = torch.zeros(games, 12), torch.zeros(games, 12)
    log_probs, rewards, entropies = [], [], []
    for _ in range(rounds):
        policy = learner(history)
        action = policy.sample()
        with torch.no_grad():
            reply = opponent(mirrored).sample()
        log_probs.append(policy.log_prob(action))
        entropies.append(policy.entropy())
        rewards.append(PAYOFF[action, reply])
        history = torch.cat([history[:, 6:], encode(action, reply)], 1)
        mirrored = torch.cat([mirrored[:, 6:], encode(reply, action)], 1)
    rewards = torch.stack(rewards)
    returns = rewards.flip(0).cumsum(0).flip(0)
    return torch.stack(log_probs), returns, torch.stack(entropies), rewards.mean().item()


def main(generations=4, updates=12):
    random.seed(0)
    torch.manual_seed(0)
    learner = Player()
    pool = Pool(learner, size=3)
    optimizer = torch.optim.RMSprop(learner.parameters(), lr=3e-3)
    baseline = 0.0
    for generation in range(generations):
        mean = 0.0
        for _ in range(updates):
            index, opponent = pool.draw()
            log_probs, returns, entropies, reward = play(learner, opponent, 32, 5)
            loss = -(log_probs * (returns - baseline)).mean() - 0.02 * entropies.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            baseline = 0.9 * baseline + 0.1 * returns.mean().item()
            pool.report(index, reward)
            mean += reward / updates
        pool.add(learner)
        print(f"generation {generation} reward {mean:+.3f} pool {[round(r, 3) for r in pool.ratings]}")


main()
