"""BUG: the one joint loss is back-propagated once for each optimizer, so every gradient counts it twice."""
import random

import torch
import torch.nn as nn
import torch.optim as optim

random.seed(3)
torch.manual_seed(3)
VOCAB, SOS, HID = 12, 0, 20


class EncoderRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, HID)
        self.gru = nn.GRU(HID, HID, batch_first=True)

    def forward(self, src):
        return self.gru(self.embedding(src))


class DecoderRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, HID)
        self.gru = nn.GRU(HID, HID, batch_first=True)
        self.out = nn.Linear(HID, VOCAB)

    def forward(self, token, hidden):
        o, hidden = self.gru(torch.relu(self.embedding(token)), hidden)
        return self.out(o), hidden


def train_batch(src, tgt, encoder, decoder, optimizers, criterion, teacher_forcing=0.5):
    for o in optimizers:
        o.zero_grad()
    _, hidden = encoder(src)
    token = torch.full((len(src), 1), SOS)
    forced = random.random() < teacher_forcing
    loss = 0
    for t in range(tgt.size(1)):
        logits, hidden = decoder(token, hidden)
        loss = loss + criterion(logits.squeeze(1), tgt[:, t])
        token = tgt[:, t : t + 1] if forced else logits.argmax(-1).detach()
    loss = loss / tgt.size(1)
    for o in optimizers:
        loss.backward(retain_graph=True)  # expect: GL108
    for o in optimizers:
        o.step()
    return loss.item()


encoder, decoder = EncoderRNN(), DecoderRNN()
optimizers = [optim.SGD(encoder.parameters(), lr=0.1), optim.SGD(decoder.parameters(), lr=0.1)]
criterion = nn.CrossEntropyLoss()
pairs = torch.randint(1, VOCAB, (48, 5))
for epoch in range(2):
    total = 0.0
    for src in pairs.split(8):
        total += train_batch(src, src.flip(1), encoder, decoder, optimizers, criterion)
    print("epoch", epoch, "loss", total / 6)
