"""OK: each submodule clears its own gradients, and together they hold every parameter of the optimizer."""
import itertools

import torch
from torch import nn

torch.manual_seed(1)
encoder = nn.Sequential(nn.Linear(20, 8), nn.GELU())
bottleneck = nn.Linear(8, 3)
decoder = nn.Sequential(nn.Linear(3, 8), nn.GELU(), nn.Linear(8, 20))
adam = torch.optim.Adam(
    itertools.chain(encoder.parameters(), bottleneck.parameters(), decoder.parameters()), lr=3e-3
)

basis = torch.randn(3, 20)
for iteration in range(60):
    batch = torch.randn(32, 3) @ basis
    encoder.zero_grad()
    bottleneck.zero_grad()
    decoder.zero_grad()
    rebuilt = decoder(bottleneck(encoder(batch)))
    error = (rebuilt - batch).pow(2).mean()
    error.backward()
    adam.step()

print("reconstruction error", error.item())
