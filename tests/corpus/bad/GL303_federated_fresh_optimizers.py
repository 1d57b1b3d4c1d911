"""BUG: every client takes one scaled step with a fresh optimizer, and the shared scaler is never updated."""
import copy

import torch
from torch import nn

torch.manual_seed(156)
clients = [(torch.randn(24, 5) + shift, None) for shift in (-1.0, -0.3, 0.4, 1.2)]
clients = [(x, x.mean(1, keepdim=True).tanh()) for x, _ in clients]
server = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 1))
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=4)
optimizers = []


def local_update(x, y):
    local = copy.deepcopy(server)
    optimizer = torch.optim.SGD(local.parameters(), lr=0.1)
    optimizers.append(optimizer)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        prediction = local(x)
    loss = nn.functional.mse_loss(prediction.float(), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)  # expect: GL303
    return local.state_dict(), loss.item()


for round_number in range(5):
    states, losses = zip(*(local_update(x, y) for x, y in clients))
    average = {k: torch.stack([s[k] for s in states]).mean(0) for k in states[0]}
    server.load_state_dict(average)
    print("round", round_number, "loss", sum(losses) / len(losses), "scale", scaler.get_scale())
