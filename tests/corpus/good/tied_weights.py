"""OK: embedding and output layer share one matrix, which collects gradients from both uses within a single backward."""
import torch
from torch import nn


class TiedLM(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.mix = nn.Linear(width, width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(torch.tanh(self.mix(self.embed(ids))))


torch.manual_seed(0)
lm = TiedLM(18, 12)
groups = [{"params": [lm.embed.weight], "weight_decay": 0.0}, {"params": lm.mix.parameters()}]
optimizer = torch.optim.AdamW(groups, lr=1e-2)
for step in range(50):
    ids = torch.randint(0, 18, (32,))
    loss = nn.functional.cross_entropy(lm(ids), (ids * 5 + 1) % 18)
    lm.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "shared", lm.head.weight is lm.embed.weight)
