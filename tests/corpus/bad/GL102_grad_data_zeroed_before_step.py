"""BUG: p.grad.data.zero_() runs between backward() and step(); the version counter does not tell."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
inputs = torch.randn(256, 6)
targets = torch.sin(inputs).sum(dim=1, keepdim=True)

net = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-2)

for epoch in range(4):
    for start in range(0, len(inputs), 32):
        batch = slice(start, start + 32)
        loss = F.mse_loss(net(inputs[batch]), targets[batch])
        loss.backward()
        for p in net.parameters():
            p.grad.data.zero_()  # expect: GL102
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
