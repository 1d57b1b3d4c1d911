"""BUG: the norm is clipped after each chunk's backward, bounding partial sums instead of the whole batch's gradient."""
import torch
from torch import nn

torch.manual_seed(178)
text = torch.randint(0, 30, (96, 12))
model = nn.ModuleDict({
    "embed": nn.Embedding(30, 16),
    "rnn": nn.GRU(16, 24, batch_first=True),
    "out": nn.Linear(24, 30),
})
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
splits = 4


def language_model_loss(tokens):
    states, _ = model["rnn"](model["embed"](tokens[:, :-1]))
    return nn.functional.cross_entropy(model["out"](states).transpose(1, 2), tokens[:, 1:])


for epoch in range(2):
    for batch in text[torch.randperm(96)].split(32):
        optimizer.zero_grad()
        for chunk in batch.chunk(splits):
            loss = language_model_loss(chunk)
            (loss / splits).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.1)  # expect: GL307
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
