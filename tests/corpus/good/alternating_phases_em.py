"""OK: both optimizers step in every iteration, but in each phase one side is frozen and has no gradient: that is the alternation."""
import torch
from torch import nn

torch.manual_seed(0)
ratings = torch.randn(20, 3) @ torch.randn(3, 15)
users = nn.Parameter(torch.randn(20, 3) * 0.1)
items = nn.Parameter(torch.randn(3, 15) * 0.1)
user_opt = torch.optim.Adam([users], lr=0.05)
item_opt = torch.optim.Adam([items], lr=0.05)

for round_ in range(6):
    for phase in ("users", "items"):
        users.requires_grad_(phase == "users")
        items.requires_grad_(phase == "items")
        for it in range(10):
            user_opt.zero_grad()
            item_opt.zero_grad()
            loss = (users @ items - ratings).pow(2).mean()
            loss.backward()
            user_opt.step()
            item_opt.step()
print("loss", loss.item())
