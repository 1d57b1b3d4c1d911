"""OK: a post hook on the optimizer clears the gradients right after every step; no zero_grad() is in the loop."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.GRU(input_size=3, hidden_size=6, batch_first=True)
head = nn.Linear(6, 1)
optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=1e-2)
optimizer.register_step_post_hook(lambda opt, args, kwargs: opt.zero_grad())

sequences = torch.randn(48, 12, 3)
targets = sequences.cumsum(1)[..., :1]
for epoch in range(3):
    for seq, tgt in zip(sequences.split(12), targets.split(12)):
        out, _ = model(seq)
        loss = nn.functional.mse_loss(head(out), tgt)
        loss.backward()
        optimizer.step()
print("loss", loss.item())
