"""OK: auto-decoder: codes and decoder train together by two optimizers; then only a new code is fitted to the unfrozen decoder."""
import torch
from torch import nn

torch.manual_seed(0)
shapes = torch.randn(24, 3) @ torch.randn(3, 12)
codes = nn.Embedding(24, 3)
decoder = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 12))
opt_net = torch.optim.Adam(decoder.parameters(), lr=5e-3)
opt_code = torch.optim.Adam(codes.parameters(), lr=2e-2)

for epoch in range(15):
    for idx in torch.randperm(24).split(8):
        opt_net.zero_grad()
        opt_code.zero_grad()
        z = codes(idx)
        loss = (decoder(z) - shapes[idx]).pow(2).mean() + 1e-3 * z.pow(2).mean()
        loss.backward()
        opt_net.step()
        opt_code.step()

new_shape = shapes[:1] * 0.5 + shapes[1:2] * 0.5
z = torch.zeros(1, 3, requires_grad=True)
fit = torch.optim.Adam([z], lr=5e-2)
for it in range(40):
    fit.zero_grad()
    residual = (decoder(z) - new_shape).pow(2).mean()
    residual.backward()
    fit.step()
print("train", loss.item(), "new code residual", residual.item())
