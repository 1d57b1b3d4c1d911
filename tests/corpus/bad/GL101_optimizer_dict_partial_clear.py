"""BUG: of the two optimizers in the dict only the encoder's is zeroed; the decoder's gradients go stale."""
import torch
from torch import nn

torch.manual_seed(21)
data = torch.randn(192, 16) @ torch.randn(16, 16) / 4

nets = nn.ModuleDict({
    "encoder": nn.Sequential(nn.Linear(16, 6), nn.ELU()),
    "decoder": nn.Linear(6, 16),
})
optimizers = {
    "encoder": torch.optim.Adam(nets["encoder"].parameters(), lr=1e-3),
    "decoder": torch.optim.SGD(nets["decoder"].parameters(), lr=1e-2),
}


def reconstruct(batch):
    return nets["decoder"](nets["encoder"](batch))


history = []
for epoch in range(3):
    for batch in data[torch.randperm(len(data))].split(24):
        optimizers["encoder"].zero_grad()
        error = (reconstruct(batch) - batch).pow(2).mean()
        error.backward()  # expect: GL101
        for opt in optimizers.values():
            opt.step()
        history.append(error.item())

print("first", history[0], "last", history[-1])
