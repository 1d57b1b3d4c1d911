"""OK: BYOL: only the online side has an optimizer; the target side follows by EMA and sees no gradient."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
predictor = nn.Linear(4, 4)
target = copy.deepcopy(online).requires_grad_(False)
opt = torch.optim.Adam([*online.parameters(), *predictor.parameters()], lr=3e-3)


def regression(p, z):
    return 2 - 2 * F.cosine_similarity(p, z.detach(), dim=-1).mean()


for i, x in enumerate(torch.randn(40, 32, 8)):
    v1, v2 = x + 0.1 * torch.randn_like(x), x * (torch.rand_like(x) > 0.1)
    loss = regression(predictor(online(v1)), target(v2)) + regression(predictor(online(v2)), target(v1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    tau = 1 - 0.02 * (1 - i / 40)
    torch._foreach_lerp_(list(target.parameters()), [p.detach() for p in online.parameters()], 1 - tau)
print("loss", loss.item())
