"""A small language model with sentences of different length: one script for one process, DDP and FSDP2.

python examples/tokens.py
torchrun --nproc-per-node 2 examples/tokens.py
torchrun --nproc-per-node 2 examples/tokens.py --sharded

All three make the same updates: every window is divided by the tokens it holds, over all processes.
"""

from __future__ import annotations

import argparse
import os

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

import gradledger

VOCABULARY, LONGEST, SENTENCES, IGNORED = 32, 12, 96, -100


def sentences() -> list[Tensor]:
    """Sentences that count upwards from a random word, of random length."""
    dice = torch.Generator().manual_seed(0)
    lengths = torch.randint(3, LONGEST + 1, (SENTENCES,), generator=dice).tolist()
    starts = torch.randint(0, VOCABULARY, (SENTENCES,), generator=dice).tolist()
    return [
        (start + torch.arange(length)) % VOCABULARY for start, length in zip(starts, lengths, strict=True)
    ]


def collate(group: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Words, and the word that follows each; what lies behind a sentence's end is ignored."""
    words = nn.utils.rnn.pad_sequence(group, batch_first=True)
    targets = nn.utils.rnn.pad_sequence([s[1:] for s in group], batch_first=True, padding_value=IGNORED)
    return words[:, :-1], targets


class Model(nn.Module):
    """Two layers over an embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, 32)
        self.layers = nn.ModuleList(
            [nn.TransformerEncoderLayer(32, 2, 64, 0.0, batch_first=True) for _ in range(2)]
        )
        self.head = nn.Linear(32, VOCABULARY)

    def forward(self, words: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1])
        hidden = self.words(words)
        for layer in self.layers:
            hidden = layer(hidden, src_mask=mask, is_causal=True)
        return self.head(hidden)


def parallel(model: nn.Module, *, sharded: bool) -> nn.Module:
    """The model as torchrun's processes share it; without torchrun as it is."""
    if "RANK" not in os.environ:
        return model
    dist.init_process_group("gloo")
    if not sharded:
        return nn.parallel.DistributedDataParallel(model)
    from torch.distributed.fsdp import fully_shard

    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def main() -> None:
    """Train for a few epochs and print every epoch's loss."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sharded", action="store_true", help="FSDP2 instead of DDP")
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    rank, ranks = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))

    torch.manual_seed(0)
    model = parallel(Model(), sharded=args.sharded)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs * SENTENCES // 32)
    acc = gradledger.Accumulator(model, optimizer, every=8 // ranks, clip_norm=1.0, scheduler=scheduler)
    # Eight micro-batches of four sentences make a window; the processes take turns.
    mine = [chunk for i, chunk in enumerate(torch.arange(SENTENCES).split(4)) if i % ranks == rank]
    data = sentences()
    for epoch in range(args.epochs):
        for chunk in acc.batches(mine):
            words, targets = collate([data[i] for i in chunk.tolist()])
            with acc.precision():
                loss = F.cross_entropy(model(words).flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
            update = acc.backward(loss, count=(targets != IGNORED).sum())
        if rank == 0 and update:
            print(f"epoch {epoch}: loss {update.loss:.4f}, norm {update.grad_norm:.4f}")
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
