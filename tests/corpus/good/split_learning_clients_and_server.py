"""OK: the server differentiates from a detached activation, and the client goes on with the gradient it is sent; both clear before their part."""
import argparse
import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Client:
    def __init__(self, name, net, data, lr):
        self.name, self.net, self.loader = name, net, DataLoader(data, batch_size=40, shuffle=True)
        self.optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)

    def receive_weights(self, state):
        self.net.load_state_dict(state)

    def forward(self, x):
        self.smashed = self.net(x)
        return self.smashed.detach().clone()

    def backward(self, gradient):
        self.optimizer.zero_grad()
        self.smashed.backward(gradient)
        self.optimizer.step()
        self.smashed = None


class Server:
    def __init__(self, net, lr):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
        self.traffic = 0

    def train(self, smashed, y):
        smashed.requires_grad_(True)
        self.optimizer.zero_grad()
        out = self.net(smashed)
        loss = F.cross_entropy(out, y)
        loss.backward()
        self.optimizer.step()
        self.traffic += 2 * smashed.numel()
        return smashed.grad.clone(), loss.item(), (out.argmax(1) == y).sum().item()


@torch.no_grad()
def test(client_net, server_net, x, y):
    return (server_net(client_net(x)).argmax(1) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--noise", type=float, default=0.02)
    args = parser.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    lower = nn.Sequential(nn.Linear(64, 32), nn.ReLU())
    server = Server(nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 10)), lr=0.05)
    clients = []
    for k in range(args.clients):
        part = slice(400 * k, 400 * (k + 1))
        clients.append(Client(f"client-{k}", copy.deepcopy(lower), TensorDataset(x[part], y[part]), lr=0.05))
    latest = lower.state_dict()
    for rnd in range(args.rounds):
        for client in clients:
            client.receive_weights(latest)
            losses, hits, n = 0.0, 0, 0
            for xb, yb in client.loader:
                activation = client.forward(xb)
                activation += args.noise * torch.randn_like(activation)
                gradient, loss, good = server.train(activation, yb)
                client.backward(gradient)
                losses += loss * len(yb)
                hits += good
                n += len(yb)
            latest = copy.deepcopy(client.net.state_dict())
            print(f"round {rnd} {client.name} loss {losses / n:.3f} accuracy {hits / n:.3f}")
        print("test accuracy", round(test(clients[-1].net, server.net, x[1200:], y[1200:]), 3), "floats sent", server.traffic)


if __name__ == "__main__":
    main()
