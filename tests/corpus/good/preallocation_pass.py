"""OK: one forward and backward on the largest shape before training reserves memory; its gradients are cleared, never stepped."""
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 8)
        self.gru = nn.GRU(8, 8, batch_first=True, bidirectional=True)
        self.out = nn.Linear(16, 3)

    def forward(self, ids):
        return self.out(self.gru(self.embed(ids))[0])


def warm_up(model, optimizer, batch, longest):
    ids = torch.zeros(batch, longest, dtype=torch.long)
    model(ids).sum().backward()
    optimizer.zero_grad()


torch.manual_seed(0)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
warm_up(model, optimizer, 8, 30)
for epoch in range(2):
    for length in (5, 12, 30, 7, 19):
        ids = torch.randint(0, 30, (8, length))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(ids).transpose(1, 2), ids % 3)
        loss.backward()
        optimizer.step()
print("loss", loss.item())
