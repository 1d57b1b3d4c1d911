"""OK: training stops, everything including the scaler is saved and loaded into new objects, and training goes on."""
import io

import torch
from torch import nn


def create():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 10, growth_interval=5)
    return {"model": model, "optimizer": optimizer, "schedule": schedule, "scaler": scaler}


def epoch(run, data):
    for x in data:
        run["optimizer"].zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(run["model"](x), (x[:, 0] > 0).long())
        run["scaler"].scale(loss).backward()
        run["scaler"].step(run["optimizer"])
        run["scaler"].update()
    run["schedule"].step()
    return loss.item()


torch.manual_seed(0)
data = torch.randn(8, 16, 4)
first = create()
epoch(first, data), epoch(first, data)
disk = io.BytesIO()
torch.save({k: v.state_dict() for k, v in first.items()}, disk)
del first

disk.seek(0)
second = create()
saved = torch.load(disk)
for key, part in second.items():
    part.load_state_dict(saved[key])
epoch(second, data)
print("loss", epoch(second, data), "scale", second["scaler"].get_scale(), "lr", second["schedule"].get_last_lr())
