"""OK: complex-valued weights have complex gradients, cleared and clipped and stepped like real ones."""
import torch

torch.manual_seed(0)
truth = torch.randn(4, 4, dtype=torch.cfloat)
mixing = torch.nn.Parameter(torch.randn(4, 4, dtype=torch.cfloat))
phase = torch.nn.Parameter(torch.zeros(4))
optimizer = torch.optim.Adam([mixing, phase], lr=3e-2)
for step in range(80):
    signal = torch.randn(16, 4, dtype=torch.cfloat)
    optimizer.zero_grad()
    estimate = (signal @ mixing) * torch.exp(1j * phase)
    loss = (estimate - signal @ truth).abs().pow(2).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([mixing, phase], 5.0)
    optimizer.step()
print("loss", loss.item())
