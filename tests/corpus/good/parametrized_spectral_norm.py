"""OK: parametrisations move the learnable tensor to a new name; the optimizer is built after that and holds the right one."""
import torch
from torch import nn
from torch.nn.utils import parametrizations

torch.manual_seed(0)
net = nn.Sequential(parametrizations.spectral_norm(nn.Linear(6, 12)), nn.ReLU(),
                    parametrizations.weight_norm(nn.Linear(12, 1)))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for x in torch.randn(40, 16, 6):
    loss = nn.functional.mse_loss(net(x), x[:, :1].abs())
    opt.zero_grad()
    loss.backward()
    opt.step()
print([n for n, _ in net.named_parameters()], loss.item())
