"""BUG: the decoder is trained by the same loss, but only the encoder's parameters are in the optimizer."""
import torch
from sklearn.datasets import load_digits
from torch import nn, optim

torch.manual_seed(214)
images = torch.tensor(load_digits().data[:640], dtype=torch.float32) / 16

encoder = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8))
decoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 64), nn.Sigmoid())
optimizer = optim.Adam(encoder.parameters(), lr=3e-3)  # expect: GL402


def reconstruction(batch):
    return nn.functional.binary_cross_entropy(decoder(encoder(batch)), batch)


for epoch in range(2):
    for batch in images[torch.randperm(640)].split(64):
        encoder.zero_grad()
        decoder.zero_grad()
        loss = reconstruction(batch)
        loss.backward()  # expect: GL402
        optimizer.step()
    print("epoch", epoch, loss.item())
