"""BUG: a batch in which no token is masked divides zero by zero, and the NaN gradients are stepped."""
import torch
from torch import nn

VOCAB, MASK = 25, 24
torch.manual_seed(174)
sentences = (torch.arange(8) * 2 + torch.randint(0, 20, (72, 1))) % (VOCAB - 1)

embedding = nn.Embedding(VOCAB, 16)
mixer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
decoder = nn.Linear(16, VOCAB)
model = nn.Sequential(embedding, mixer, decoder)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)


def masked_loss(tokens, chosen):
    logits = model(tokens.masked_fill(chosen, MASK))
    every = nn.functional.cross_entropy(logits.transpose(1, 2), tokens, reduction="none")
    return (every * chosen).sum() / chosen.sum()


for epoch in range(2):
    for k, batch in enumerate(sentences.split(12)):
        rate = 0.0 if k == 4 else 0.3
        chosen = torch.rand(batch.shape) < rate
        optimizer.zero_grad()
        loss = masked_loss(batch, chosen)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()  # expect: GL306
    print("epoch", epoch, loss.item())
