"""BUG: the semi-supervised loop steps on every third pair, leaving the tenth pair's gradients to the next epoch."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(55)
centers = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [0.0, 2.5]])
y = torch.arange(300) % 3
x = centers[y] + torch.randn(300, 2)
labelled = DataLoader(TensorDataset(x[:80], y[:80]), batch_size=8, shuffle=True)
unlabelled = DataLoader(x[80:280], batch_size=20, shuffle=True)

net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
every = 3

for epoch in range(2):
    for k, ((xl, yl), xu) in enumerate(zip(labelled, unlabelled), start=1):
        supervised = F.cross_entropy(net(xl), yl)
        with torch.no_grad():
            guess = net(xu).softmax(1)
        noisy = net(xu + 0.2 * torch.randn_like(xu)).softmax(1)
        consistency = F.mse_loss(noisy, guess)
        ((supervised + 0.5 * consistency) / every).backward()
        if k % every == 0:  # expect: GL202
            opt.step()  # expect: GL202
            opt.zero_grad()
    print("epoch", epoch, "supervised", supervised.item(), "consistency", consistency.item())
