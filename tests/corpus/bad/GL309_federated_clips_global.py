"""BUG: the client trains its own copy but clips the parameters of the server's global model."""
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Server:
    def __init__(self, model):
        self.global_model = model

    @torch.no_grad()
    def aggregate(self, states, sizes):
        total = sum(sizes)
        merged = {k: sum(s[k] * (n / total) for s, n in zip(states, sizes)) for k in states[0]}
        self.global_model.load_state_dict(merged)

    @torch.no_grad()
    def evaluate(self, x, y):
        return (self.global_model(x).argmax(1) == y).float().mean().item()


class LocalUpdate:
    def __init__(self, x, y, lr, max_norm):
        self.x, self.y, self.lr, self.max_norm = x, y, lr, max_norm

    def train(self, server, local_ep=2, local_bs=10):
        model = copy.deepcopy(server.global_model)
        optimizer = torch.optim.SGD(model.parameters(), lr=self.lr, momentum=0.5)
        for _ in range(local_ep):
            for idx in torch.randperm(len(self.x)).split(local_bs):
                model.zero_grad()
                loss = F.cross_entropy(model(self.x[idx]), self.y[idx])
                loss.backward()
                torch.nn.utils.clip_grad_norm_(server.global_model.parameters(), self.max_norm)  # expect: GL309
                optimizer.step()
        return model.state_dict(), len(self.x)


if __name__ == "__main__":
    torch.manual_seed(909)
    prototypes = torch.randn(3, 8)
    y = torch.arange(120) % 3
    x = prototypes[y] + torch.randn(120, 8)
    server = Server(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)))
    clients = [LocalUpdate(x[k::4], y[k::4], lr=0.1, max_norm=0.5) for k in range(4)]
    for rnd in range(3):
        states, sizes = zip(*(c.train(server) for c in clients))
        server.aggregate(states, sizes)
        print("round", rnd, "accuracy", server.evaluate(x, y))
