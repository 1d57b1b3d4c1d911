"""BUG: backward() has an AMP arm that scales the loss, update() has none and steps the optimizer itself."""
import torch
from torch import nn


class Engine:
    def __init__(self, model, amp):
        self.model = model
        self.amp = amp
        self.optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=256.0, enabled=amp)

    def forward(self, nodes, adjacency, labels):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.amp):
            logits = self.model(nodes, adjacency)
        return nn.functional.cross_entropy(logits.float(), labels)

    def backward(self, loss):
        self.optimizer.zero_grad()
        if self.amp:
            self.scaler.scale(loss).backward()
        else:
            loss.backward()

    def update(self):
        self.optimizer.step()  # expect: GL302


class GraphConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 16), nn.Linear(16, 3)

    def forward(self, nodes, adjacency):
        return self.second(adjacency @ torch.relu(self.first(adjacency @ nodes)))


def main():
    torch.manual_seed(148)
    engine = Engine(GraphConv(), amp=True)
    nodes = torch.randn(30, 6)
    adjacency = (torch.rand(30, 30) < 0.2).float() + torch.eye(30)
    adjacency = adjacency / adjacency.sum(1, keepdim=True)
    labels = (adjacency @ nodes)[:, :3].argmax(1)
    for iteration in range(12):
        loss = engine.forward(nodes, adjacency, labels)
        engine.backward(loss)
        engine.update()
    print("loss", loss.item())


main()
