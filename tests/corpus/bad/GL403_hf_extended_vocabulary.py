"""BUG: extend_vocabulary() swaps in a new embedding after the optimizer took the old one."""
import torch
from torch import nn
from transformers import BertConfig, BertForSequenceClassification


def extend_vocabulary(model, extra):
    old = model.get_input_embeddings()
    new = nn.Embedding(old.num_embeddings + extra, old.embedding_dim, padding_idx=old.padding_idx)
    with torch.no_grad():
        new.weight[: old.num_embeddings] = old.weight
    model.set_input_embeddings(new)
    return new.num_embeddings


torch.manual_seed(224)
model = BertForSequenceClassification(
    BertConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=12, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)  # expect: GL402|GL403
vocabulary = extend_vocabulary(model, extra=4)

documents = torch.randint(1, vocabulary, (48, 10))
labels = (documents >= 40).any(dim=1).long()
model.train()
for epoch in range(2):
    for ids, targets in zip(documents.split(8), labels.split(8)):
        model.zero_grad()
        loss = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=targets).loss
        loss.backward()  # expect: GL402|GL403
        optimizer.step()
    print("epoch", epoch, loss.item())
