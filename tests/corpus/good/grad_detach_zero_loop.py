"""OK: a do-it-yourself zero_grad with p.grad.detach_() and p.grad.zero_(), as older PyTorch wrote it."""
import torch
import torch.nn as nn


class Regressor(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.ModuleList([nn.Linear(4, width), nn.Linear(width, width), nn.Linear(width, 1)])

    def forward(self, x):
        for layer in self.body[:-1]:
            x = torch.sigmoid(layer(x))
        return self.body[-1](x)

    def clear(self):
        for p in self.parameters():
            if p.grad is not None:
                p.grad.detach_()
                p.grad.zero_()


torch.manual_seed(11)
model = Regressor(10)
optimiser = torch.optim.Adagrad(model.parameters(), lr=0.1)
xs = torch.randn(64, 4)
ys = xs.prod(dim=1, keepdim=True)
for _ in range(30):
    model.clear()
    loss = nn.MSELoss()(model(xs), ys)
    loss.backward()
    optimiser.step()
print(loss.item())
