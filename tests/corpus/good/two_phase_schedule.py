"""OK: phase one trains the encoder with its own optimizer, phase two the head; the encoder's optimizer simply rests in phase two."""
import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Linear(10, 4)
decoder = nn.Linear(4, 10)
head = nn.Linear(4, 2)
phases = [
    ("reconstruct", torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2), 3),
    ("classify", torch.optim.Adam(head.parameters(), lr=1e-2), 3),
]
data = torch.randn(100, 10) * torch.linspace(0.1, 2, 10)
labels = (data[:, -1] > 0).long()

for name, optimizer, epochs in phases:
    for epoch in range(epochs):
        for rows in torch.randperm(100).split(25):
            optimizer.zero_grad()
            if name == "reconstruct":
                loss = nn.functional.mse_loss(decoder(encoder(data[rows])), data[rows])
            else:
                with torch.no_grad():
                    z = encoder(data[rows])
                loss = nn.functional.cross_entropy(head(z), labels[rows])
            loss.backward()
            optimizer.step()
    print(name, loss.item())
