"""OK: two pipeline stages: each micro-batch's loss reaches the boundary tensor, whose gradient is passed on to the first stage."""
import torch
from torch import nn

torch.manual_seed(0)
stages = [nn.Sequential(nn.Linear(6, 12), nn.ReLU()), nn.Linear(12, 1)]
opts = [torch.optim.SGD(s.parameters(), lr=0.05) for s in stages]
chunks = 4
for step in range(25):
    batch = torch.randn(32, 6)
    target = batch.norm(dim=1, keepdim=True)
    flying, losses = [], []
    for x in batch.chunk(chunks):  # all forwards first
        sent = stages[0](x)
        received = sent.detach().requires_grad_()
        flying.append((sent, received))
    for (sent, received), y in zip(flying, target.chunk(chunks)):
        loss = nn.functional.mse_loss(stages[1](received), y) / chunks
        loss.backward()
        losses.append(loss.item())
    for sent, received in reversed(flying):
        sent.backward(received.grad)
    for opt in opts:
        opt.step()
        opt.zero_grad()
print("loss", sum(losses))
