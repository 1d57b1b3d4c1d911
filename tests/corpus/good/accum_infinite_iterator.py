"""OK: nanoGPT style: for each update the micro-steps draw from an endless stream, so there is no tail at all."""
import torch
from torch import nn

torch.manual_seed(0)
block_size, vocab, gradient_accumulation_steps, max_iters = 8, 12, 4, 12
corpus = (torch.arange(400) * 7 // 3) % vocab


def get_batch():
    ix = torch.randint(len(corpus) - block_size - 1, (6,))
    x = torch.stack([corpus[i:i + block_size] for i in ix])
    y = torch.stack([corpus[i + 1:i + 1 + block_size] for i in ix])
    return x, y


class Bigram(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(vocab, vocab)

    def forward(self, idx, targets):
        logits = self.table(idx)
        return logits, nn.functional.cross_entropy(logits.view(-1, vocab), targets.view(-1))


model = Bigram()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, betas=(0.9, 0.95))
scaler = torch.amp.GradScaler("cpu", enabled=False)
X, Y = get_batch()
iter_num = 0
while True:
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * (1 - iter_num / max_iters)
    for micro_step in range(gradient_accumulation_steps):
        logits, loss = model(X, Y)
        loss = loss / gradient_accumulation_steps
        X, Y = get_batch()
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num >= max_iters:
        break
print("loss", loss.item() * gradient_accumulation_steps)
