"""OK: hidden state is detached between chunks, each chunk clears, differentiates, clips and steps on its own."""
import torch
from torch import nn


def repackage(state):
    return tuple(s.detach() for s in state) if isinstance(state, tuple) else state.detach()


class CharLM(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids, state):
        y, state = self.lstm(self.embed(ids), state)
        return self.head(y), state


torch.manual_seed(0)
text = "the quick brown fox jumps over the lazy dog " * 40
vocab = sorted(set(text))
ids = torch.tensor([vocab.index(c) for c in text])
streams = ids[: len(ids) // 8 * 8].view(8, -1)
lm = CharLM(len(vocab), 24)
opt = torch.optim.Adam(lm.parameters(), lr=1e-2)
bptt = 20
for epoch in range(2):
    state = (torch.zeros(1, 8, 24), torch.zeros(1, 8, 24))
    for pos in range(0, streams.size(1) - 1, bptt):
        length = min(bptt, streams.size(1) - 1 - pos)
        state = repackage(state)
        lm.zero_grad()
        logits, state = lm(streams[:, pos:pos + length], state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), streams[:, pos + 1:pos + 1 + length].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(lm.parameters(), 0.25)
        opt.step()
print("perplexity", loss.exp().item())
