"""OK: two heads share a trunk; the first backward keeps the trunk's graph for the second, and both losses are wanted."""
import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
classify = nn.Linear(16, 3)
regress = nn.Linear(16, 1)
everything = nn.ModuleList([trunk, classify, regress])
opt = torch.optim.Adam(everything.parameters(), lr=1e-2)

x = torch.randn(150, 6)
cls = x[:, :3].argmax(1)
reg = x.sum(1, keepdim=True)
for epoch in range(5):
    for i in range(0, 150, 30):
        opt.zero_grad()
        shared = trunk(x[i:i + 30])
        loss_c = nn.functional.cross_entropy(classify(shared), cls[i:i + 30])
        loss_r = nn.functional.mse_loss(regress(shared), reg[i:i + 30])
        loss_c.backward(retain_graph=True)
        loss_r.backward()
        opt.step()
print(loss_c.item(), loss_r.item())
