"""BUG: outputs.loss of a Hugging Face model is accumulated over four batches without being divided."""
import torch
from transformers import BertConfig, BertForSequenceClassification

ACCUMULATION_STEPS = 4


def make_batches(n_batches=16, batch_size=8, length=10):
    for _ in range(n_batches):
        ids = torch.randint(5, 60, (batch_size, length))
        yield {
            "input_ids": ids,
            "attention_mask": torch.ones_like(ids),
            "labels": (ids[:, 0] > 32).long(),
        }


def main():
    torch.manual_seed(77)
    config = BertConfig(
        vocab_size=60, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=16, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )
    model = BertForSequenceClassification(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    batches = list(make_batches())
    model.train()
    for epoch in range(2):
        for step, batch in enumerate(batches, 1):
            outputs = model(**batch)
            loss = outputs.loss
            loss.backward()  # expect: GL201
            if step % ACCUMULATION_STEPS == 0:
                optimizer.step()
                optimizer.zero_grad()
        print("epoch", epoch, loss.item())


if __name__ == "__main__":
    main()
