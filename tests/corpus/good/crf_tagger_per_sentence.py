"""OK: a BiLSTM-CRF takes one sentence at a time as in the tutorial, with the forward algorithm as the loss and a clear before each sentence."""
import torch
from torch import nn

START_TAG, STOP_TAG = "<START>", "<STOP>"
TAG_TO_IX = {"B": 0, "I": 1, "O": 2, START_TAG: 3, STOP_TAG: 4}


def log_sum_exp(vec):
    return torch.logsumexp(vec, dim=-1)


class BiLSTM_CRF(nn.Module):
    def __init__(self, vocab_size, tag_to_ix, embedding_dim, hidden_dim):
        super().__init__()
        self.tag_to_ix, self.tagset_size, self.hidden_dim = tag_to_ix, len(tag_to_ix), hidden_dim
        self.word_embeds = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, bidirectional=True)
        self.hidden2tag = nn.Linear(hidden_dim, self.tagset_size)
        self.transitions = nn.Parameter(torch.randn(self.tagset_size, self.tagset_size))
        self.transitions.data[tag_to_ix[START_TAG], :] = -10000
        self.transitions.data[:, tag_to_ix[STOP_TAG]] = -10000

    def _features(self, sentence):
        return self.hidden2tag(self.lstm(self.word_embeds(sentence).unsqueeze(1))[0].squeeze(1))

    def _forward_alg(self, feats):
        alpha = torch.full((self.tagset_size,), -10000.0)
        alpha[self.tag_to_ix[START_TAG]] = 0.0
        for feat in feats:
            alpha = log_sum_exp(alpha.unsqueeze(0) + self.transitions) + feat
        return log_sum_exp(alpha + self.transitions[self.tag_to_ix[STOP_TAG]])

    def _score_sentence(self, feats, tags):
        padded = torch.cat([torch.tensor([self.tag_to_ix[START_TAG]]), tags])
        score = feats[torch.arange(len(tags)), tags].sum() + self.transitions[padded[1:], padded[:-1]].sum()
        return score + self.transitions[self.tag_to_ix[STOP_TAG], padded[-1]]

    def neg_log_likelihood(self, sentence, tags):
        feats = self._features(sentence)
        return self._forward_alg(feats) - self._score_sentence(feats, tags)

    @torch.no_grad()
    def viterbi(self, sentence):
        score = torch.full((self.tagset_size,), -10000.0)
        score[self.tag_to_ix[START_TAG]] = 0.0
        back = []
        for feat in self._features(sentence):
            best, pointer = (score.unsqueeze(0) + self.transitions).max(1)
            score = best + feat
            back.append(pointer)
        tag = int((score + self.transitions[self.tag_to_ix[STOP_TAG]]).argmax())
        path = [tag]
        for pointer in reversed(back[1:]):
            tag = int(pointer[tag])
            path.append(tag)
        return path[::-1]


def sentence(g, length):
    words = torch.randint(0, 9, (length,), generator=g)
    tags, inside = [], False
    for w in words.tolist():
        if w >= 6:
            tags.append(TAG_TO_IX["I"] if inside else TAG_TO_IX["B"])
            inside = True
        else:
            tags.append(TAG_TO_IX["O"])
            inside = False
    return words, torch.tensor(tags)


torch.manual_seed(1)
g = torch.Generator().manual_seed(0)
training_data = [sentence(g, int(torch.randint(4, 9, (1,), generator=g))) for _ in range(24)]
test_data = [sentence(g, 7) for _ in range(10)]
model = BiLSTM_CRF(9, TAG_TO_IX, 8, 12)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=1e-4)
for epoch in range(6):
    total = 0.0
    for words, tags in training_data:
        model.zero_grad()
        loss = model.neg_log_likelihood(words, tags)
        loss.backward()
        optimizer.step()
        total += loss.item()
    hits = sum(p == t for w, tags in test_data for p, t in zip(model.viterbi(w), tags.tolist()))
    print(f"epoch {epoch} loss {total / len(training_data):.3f} tag accuracy {hits / 70:.3f}")
