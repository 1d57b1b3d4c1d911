"""OK: each part of the model is clipped with its own bound, and together the parts are all that the optimizer updates."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.ModuleDict({"embed": nn.Embedding(12, 6), "rnn": nn.RNN(6, 8, batch_first=True), "head": nn.Linear(8, 12)})
bounds = {"embed": 0.1, "rnn": 0.25, "head": 1.0}
optimizer = torch.optim.Adam([{"params": list(part.parameters())} for part in model.values()], lr=1e-2)
for step in range(30):
    ids = (torch.randint(0, 12, (8, 1)) + torch.arange(10)) % 12
    hidden, _ = model["rnn"](model["embed"](ids[:, :-1]))
    loss = nn.functional.cross_entropy(model["head"](hidden).transpose(1, 2), ids[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    for name, part in model.items():
        nn.utils.clip_grad_norm_(part.parameters(), bounds[name])
    optimizer.step()
print("loss", loss.item())
