"""BUG: the gradients are cleared again before the second task's backward, so the first task never counts."""
import torch
from torch import nn

torch.manual_seed(17)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(9, 32), nn.ReLU())
        self.regress = nn.Linear(32, 1)
        self.classify = nn.Linear(32, 4)


net = TwoHeads()
opt = torch.optim.RMSprop(net.parameters(), lr=5e-4)
x = torch.randn(256, 9)
value = x[:, :3].sum(1, keepdim=True)
label = (x[:, 3:7]).argmax(1)

for epoch in range(3):
    for idx in torch.randperm(256).view(8, 32):
        opt.zero_grad()
        regression = nn.functional.mse_loss(net.regress(net.trunk(x[idx])), value[idx])
        regression.backward()
        opt.zero_grad()  # expect: GL102
        classification = nn.functional.cross_entropy(net.classify(net.trunk(x[idx])), label[idx])
        classification.backward()
        opt.step()

print("mse", regression.item(), "ce", classification.item())
