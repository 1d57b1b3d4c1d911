"""BUG: forward_backward() clears the model for each micro-batch the generator yields, not once per update."""
import torch
from torch import nn


class TinyEncoder(nn.Module):
    def __init__(self, vocab=24, dim=16, length=9):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(0.02 * torch.randn(length, dim))
        layer = nn.TransformerEncoderLayer(dim, nhead=2, dim_feedforward=32, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, num_layers=1, enable_nested_tensor=False)
        self.head = nn.Linear(dim, 2)

    def forward(self, ids):
        return self.head(self.body(self.tok(ids) + self.pos).mean(dim=1))


def micro_batches(ids, labels, micro, per_update):
    order = torch.randperm(len(ids)).split(micro)
    for count, pick in enumerate(order, start=1):
        yield ids[pick], labels[pick], count % per_update == 0


def forward_backward(model, ids, labels, share):
    model.zero_grad(set_to_none=True)  # expect: GL103
    loss = nn.functional.cross_entropy(model(ids), labels)
    (loss * share).backward()
    return loss.item()


def main(per_update=4):
    torch.manual_seed(23)
    ids = torch.randint(0, 24, (96, 9))
    labels = (ids[:, 0] > ids[:, -1]).long()
    model = TinyEncoder()
    adam = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(3):
        for xb, yb, update in micro_batches(ids, labels, 8, per_update):
            loss = forward_backward(model, xb, yb, share=1 / per_update)
            if update:
                adam.step()
        print(epoch, loss)


if __name__ == "__main__":
    main()
