"""BUG: the gradients are zeroed after the scaled backward and before scaler.step()."""
import torch
from torch import nn

torch.manual_seed(31)
device = "cpu"
tokens = torch.randint(0, 40, (128, 10))
targets = (tokens < 20).sum(1).float().unsqueeze(1) / 10

model = nn.Sequential(nn.EmbeddingBag(40, 16, mode="mean"), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
scaler = torch.amp.GradScaler(device, init_scale=256.0)


def amp_update(loss):
    scaler.scale(loss).backward()
    optimizer.zero_grad(set_to_none=False)  # expect: GL102
    scaler.step(optimizer)
    scaler.update()


for epoch in range(4):
    order = torch.randperm(128)
    for k in range(0, 128, 16):
        pick = order[k : k + 16]
        with torch.autocast(device, dtype=torch.bfloat16):
            prediction = model(tokens[pick])
        amp_update(nn.functional.l1_loss(prediction.float(), targets[pick]))

print("scale", scaler.get_scale(), "weights", model[1].weight.abs().sum().item())
