"""BUG: each round the client takes a fresh copy of the global model, but its optimizer still holds the first copy."""
import copy
from typing import Dict, List

import torch
from torch import Tensor, nn


class Client:
    def __init__(self, cid: int, model: nn.Module, x: Tensor, y: Tensor) -> None:
        self.cid = cid
        self.model = copy.deepcopy(model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)  # expect: GL403
        self.x, self.y = x, y

    def receive(self, global_model: nn.Module) -> None:
        self.model = copy.deepcopy(global_model)

    def local_train(self, batch_size: int = 10) -> float:
        running = 0.0
        for x, y in zip(self.x.split(batch_size), self.y.split(batch_size)):
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x), y)
            loss.backward()  # expect: GL403
            self.optimizer.step()
            running += loss.item()
        return running

    def upload(self) -> Dict[str, Tensor]:
        return {k: v.clone() for k, v in self.model.state_dict().items()}


def fed_avg(states: List[Dict[str, Tensor]]) -> Dict[str, Tensor]:
    return {k: torch.stack([s[k] for s in states]).mean(0) for k in states[0]}


def run(rounds: int = 4) -> None:
    torch.manual_seed(403)
    truth = torch.randn(6, 1)
    global_model = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 1))
    clients = []
    for cid in range(3):
        x = torch.randn(40, 6)
        clients.append(Client(cid, global_model, x, x @ truth))
    for rnd in range(rounds):
        losses = []
        for client in clients:
            client.receive(global_model)
            losses.append(client.local_train())
        global_model.load_state_dict(fed_avg([c.upload() for c in clients]))
        print("round", rnd, "loss", sum(losses) / len(losses))


if __name__ == "__main__":
    run()
