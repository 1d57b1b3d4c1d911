"""OK: the penalty takes gradients of the scaled loss and divides by the scale itself before the combined loss is scaled again."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.Softplus(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
for step in range(40):
    x = torch.randn(20, 5)
    optimizer.zero_grad()
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
        output = model(x)
        loss = nn.functional.mse_loss(output.float(), x.std(1, keepdim=True))
    scaled_grad_params = torch.autograd.grad(outputs=scaler.scale(loss), inputs=model.parameters(), create_graph=True)
    inv_scale = 1.0 / scaler.get_scale()
    grad_params = [p * inv_scale for p in scaled_grad_params]
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
        grad_norm = sum(g.pow(2).sum() for g in grad_params).sqrt()
        loss = loss + 0.1 * grad_norm
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print("loss", loss.item())
