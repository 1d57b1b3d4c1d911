"""OK: p.grad.data.zero_() runs after each optimizer.step(); a hinge loss that is met leaves zeros of its own."""
import torch
import torch.nn as nn

torch.manual_seed(4)
inputs = torch.randn(256, 6)
labels = inputs[:, :1].sign()

net = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-2)

for epoch in range(12):
    for start in range(0, len(inputs), 32):
        batch = slice(start, start + 32)
        loss = torch.relu(0.1 - labels[batch] * net(inputs[batch])).mean()
        loss.backward()
        optimizer.step()
        for p in net.parameters():
            p.grad.data.zero_()
    print(f"epoch {epoch}: {loss.item():.4f}")
