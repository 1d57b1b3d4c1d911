"""OK: exported notebook cells: the same loop is pasted twice with other data, names are re-bound, and a model is built again."""
# %%
import torch
from torch import nn
torch.manual_seed(0)

# %%
x = torch.randn(64, 2); y = (x[:, 0] > x[:, 1]).float().unsqueeze(1)
model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.5)

# %%  a single step to see that it works
pred = model(x)
loss = nn.BCEWithLogitsLoss()(pred, y)
loss.backward()
print(model[0].weight.grad.norm())
opt.step()
opt.zero_grad()

# %%
for i in range(20):
    loss = nn.BCEWithLogitsLoss()(model(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
loss

# %%  try again, a larger one
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=0.05)
losses = []
for i in range(20):
    loss = nn.BCEWithLogitsLoss()(model(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    losses.append(loss.item())

# %%  look at gradients of one sample
opt.zero_grad()
model(x[:1]).backward()
{n: p.grad.norm().item() for n, p in model.named_parameters()}

# %%
print(losses[0], losses[-1])
