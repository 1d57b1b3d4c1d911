"""BUG: the clearing stands outside the flag that guards the step."""
import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--accum", type=int, default=2)
args = parser.parse_args([])
model = nn.Embedding(50, 8)
proj = nn.Linear(8, 50)
opt = torch.optim.Adam(list(model.parameters()) + list(proj.parameters()), lr=1e-3)
count = 0
for step in range(20):
    tok = torch.randint(0, 50, (4, 6))
    logits = proj(model(tok[:, :-1]))
    loss = nn.functional.cross_entropy(logits.reshape(-1, 50), tok[:, 1:].reshape(-1))
    (loss / args.accum).backward()
    count += 1
    do_step = count == args.accum
    if do_step:
        opt.step()
        count = 0
    opt.zero_grad()  # expect: GL103
