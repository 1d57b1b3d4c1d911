"""OK: scaled gradients accumulate over the window; unscale_, clip, step and update happen once, at its end."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.GRU(4, 10, batch_first=True)
head = nn.Linear(10, 4)
params = [*model.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(params, lr=5e-3)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=12)
scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
iters_to_accumulate = 4
loader = torch.randn(16, 6, 10, 4)
for epoch in range(3):
    for i, seq in enumerate(loader):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out, _ = model(seq)
            loss = nn.functional.mse_loss(head(out), seq.flip(-1))
            loss = loss / iters_to_accumulate
        scaler.scale(loss).backward()
        if (i + 1) % iters_to_accumulate == 0:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(params, 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            scheduler.step()
print("loss", loss.item() * iters_to_accumulate, "lr", scheduler.get_last_lr())
