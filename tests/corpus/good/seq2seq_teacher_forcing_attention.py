"""OK: encoder and decoder each have an optimizer, both are cleared before the one backward of the summed time-step losses."""
import random
import time

import torch
import torch.nn.functional as F
from torch import nn

SOS, EOS, VOCAB, HIDDEN, MAX_LEN = 0, 1, 12, 24, 6


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, HIDDEN)
        self.gru = nn.GRU(HIDDEN, HIDDEN, batch_first=True)

    def forward(self, tokens):
        return self.gru(self.embedding(tokens))


class AttnDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, HIDDEN)
        self.query, self.key = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.score = nn.Linear(HIDDEN, 1)
        self.gru = nn.GRU(2 * HIDDEN, HIDDEN, batch_first=True)
        self.out = nn.Linear(HIDDEN, VOCAB)

    def forward(self, token, hidden, memory):
        weights = self.score(torch.tanh(self.query(hidden.transpose(0, 1)) + self.key(memory))).softmax(1)
        context = (weights * memory).sum(1, keepdim=True)
        output, hidden = self.gru(torch.cat([self.embedding(token), context], -1), hidden)
        return self.out(output), hidden


def make_batch(size):
    source = torch.randint(2, VOCAB, (size, MAX_LEN))
    target = torch.cat([source.flip(1), torch.full((size, 1), EOS)], 1)
    return source, target


def train(source, target, encoder, decoder, encoder_optimizer, decoder_optimizer, teacher_forcing_ratio):
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    memory, hidden = encoder(source)
    token = torch.full((len(source), 1), SOS)
    use_teacher_forcing = random.random() < teacher_forcing_ratio
    loss = 0
    for t in range(target.size(1)):
        logits, hidden = decoder(token, hidden, memory)
        loss += F.cross_entropy(logits.squeeze(1), target[:, t])
        if use_teacher_forcing:
            token = target[:, t:t + 1]
        else:
            token = logits.argmax(-1).detach()
    loss.backward()
    for module in (encoder, decoder):
        nn.utils.clip_grad_norm_(module.parameters(), 5.0)
    encoder_optimizer.step()
    decoder_optimizer.step()
    return loss.item() / target.size(1)


@torch.no_grad()
def evaluate(encoder, decoder, size=64):
    source, target = make_batch(size)
    memory, hidden = encoder(source)
    token, decoded = torch.full((size, 1), SOS), []
    for _ in range(target.size(1)):
        logits, hidden = decoder(token, hidden, memory)
        token = logits.argmax(-1)
        decoded.append(token)
    return (torch.cat(decoded, 1) == target).float().mean().item()


def train_iters(encoder, decoder, n_iters, print_every=30, learning_rate=5e-3):
    start = time.time()
    print_loss_total = 0
    encoder_optimizer = torch.optim.Adam(encoder.parameters(), lr=learning_rate)
    decoder_optimizer = torch.optim.Adam(decoder.parameters(), lr=learning_rate)
    for it in range(1, n_iters + 1):
        source, target = make_batch(32)
        ratio = max(0.3, 1 - it / n_iters)
        print_loss_total += train(source, target, encoder, decoder, encoder_optimizer, decoder_optimizer, ratio)
        if it % print_every == 0:
            elapsed = time.time() - start
            print(f"{elapsed >= 0} ({it} {100 * it // n_iters}%) {print_loss_total / print_every:.4f} token accuracy {evaluate(encoder, decoder):.3f}")
            print_loss_total = 0


random.seed(0)
torch.manual_seed(0)
train_iters(Encoder(), AttnDecoder(), 120)
