"""How far the gradient of a window is from the full batch's, in each library as its documentation shows it.

Each optimizer is a recorder: it keeps the gradient it is given and moves nothing. The oracle is torch on the
full batch in float64. Numbers are max |difference| / max |full batch's gradient|.

python benchmarks/exactness.py            the tables, also into the pages
python benchmarks/exactness.py --quick    one process, few libraries, printed only
python benchmarks/exactness.py --json     the numbers
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from figures.tables import Table, present, setting
from peers.recorder import Gradients, Recorder, Words, deviation, full_batch, told
from peers.task import Task

Found = tuple[float, float | None] | None
"""Error and factor; None if the window was never applied."""

ROWS = {
    "loop by hand, loss / N": ("hand", "epochs"),
    "Accelerate, `accumulate()`": ("accelerate", "epochs"),
    "Accelerate, its recipe for variable sizes": ("accelerate", "variable_sizes"),
    "Lightning, automatic": ("lightning", "automatic"),
    "Lightning, manual": ("lightning", "manual"),
    "Fabric, corrected": ("fabric", "epochs"),
    "Fabric, its guide word for word": ("fabric", "word_for_word"),
    "Ignite": ("ignite", "epochs"),
    "HF Trainer, native Llama": ("transformers", "native"),
    "HF Trainer, custom model": ("transformers", "custom"),
    "HF Trainer, custom model with `**kwargs`": ("transformers", "with_kwargs"),
    "torchtnt": ("torchtnt", ""),
    "Composer": ("composer", ""),
    "**gradledger**": ("gradledger", "epochs"),
}
QUICK = ("hand", "accelerate", "gradledger")
PACKAGES = ("torch", "accelerate", "lightning", "pytorch-ignite", "transformers")


def points() -> nn.Module:
    """A small regression."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))


def words() -> nn.Module:
    """A small language model."""
    torch.manual_seed(0)
    return Words()


def word_loss(result: Any, labels: Tensor) -> Tensor:
    """The mean over the tokens that are not ignored."""
    return F.cross_entropy(result.flatten(0, 1), labels.flatten(), ignore_index=-100)


def tokens(labels: Tensor) -> int:
    """How many that are."""
    return int((labels != -100).sum())


def text(lengths: list[int]) -> tuple[Tensor, Tensor]:
    """Sequences of these lengths, padded to 24; what lies beyond is ignored."""
    ids = torch.randint(17, (len(lengths), 24), generator=torch.Generator().manual_seed(2))
    beyond = torch.arange(24) >= torch.tensor(lengths)[:, None]
    return ids, ids.roll(-1, 1).masked_fill(beyond, -100)


def regression(samples: int) -> Task:
    """Micro-batches of 8, the last perhaps shorter; windows of 4."""
    generator = torch.Generator().manual_seed(1)
    data = torch.randn(samples, 10, generator=generator), torch.randn(samples, 1, generator=generator)
    return Task("samples", points, data, 8, 4, F.mse_loss)


LENGTHS = [24, 24, 3, 3, 12, 12, 2, 2]
RANKS = [2, 2, 3, 3, 2, 4, 3, 2, 24, 22, 20, 24, 23, 21, 24, 24]
LANGUAGE = Task("tokens", words, text(LENGTHS), 2, 4, word_loss, tokens)
SCENES = {
    "equal micro-batches": regression(32),
    "uneven 8, 8, 8, 3": regression(27),
    "variable tokens": LANGUAGE,
    "half-filled last window": regression(48),
}


def _llama() -> Task:
    """The Llama computes its own loss, shifts the labels itself, and averages over what is left."""
    from peers.transformers import llama

    ids, _ = LANGUAGE.data
    beyond = torch.arange(24) >= torch.tensor(LENGTHS)[:, None]
    return replace(LANGUAGE, model=llama, data=(ids, ids.masked_fill(beyond, -100)), loss=_llama_loss)


def _llama_loss(result: Any, labels: Tensor) -> Tensor:
    return word_loss(result.logits[:, :-1], labels[:, 1:])


def measure(module: str, function: str, scene: str) -> Found | str:
    """Train one epoch, and look at the last window's gradient."""
    task = SCENES[scene]
    if function == "native":
        if scene != "variable tokens":
            return "–"
        task = _llama()
    try:
        build = getattr(importlib.import_module(f"peers.{module}"), function)
    except ImportError:
        return "not installed"
    seen: list[Gradients] = []
    build(replace(task, optimizer=partial(Recorder, seen=seen)))()
    size = task.batch_size * task.every
    windows = -(-len(task.data[0]) // size)
    if len(seen) < windows:
        return None
    return deviation(seen[windows - 1], full_batch(task, (windows - 1) * size, len(task.data[0])))


def libraries(*, quick: bool) -> dict[str, dict[str, Found | str]]:
    """The table: for each library and scene what was found."""
    return {
        row: {scene: measure(module, function, scene) for scene in SCENES}
        for row, (module, function) in ROWS.items()
        if not quick or module in QUICK
    }


def resumed() -> dict[str, Found]:
    """The window that was interrupted in its middle."""
    from peers import resuming

    task = SCENES["equal micro-batches"]
    right = full_batch(task, 0, len(task.data[0]))
    return {
        name: deviation(run(task)[0], right)
        for name, run in (("accelerate", resuming.accelerate), ("gradledger", resuming.ours))
    }


def ranks() -> dict[str, Found]:
    """Two gloo ranks, short against long sequences."""
    from peers.ranks import run

    task = replace(LANGUAGE, data=text(RANKS))
    right = full_batch(task, 0, len(RANKS))
    return {name: deviation(seen[0], right) for name, seen in run(task, len(RANKS) // 2).items()}


def drawn(table: dict[str, dict[str, Found | str]], others: dict[str, dict[str, Found]]) -> Iterator[Table]:
    """Both tables."""
    cells = {
        row: [cell if isinstance(cell, str) else told(cell) for cell in found.values()]
        for row, found in table.items()
    }
    yield Table(
        "exactness", ("", *SCENES), [(row, *shown) for row, shown in cells.items()], setting(*PACKAGES)
    )
    names = {"hand": "loop by hand, loss / N", "accelerate": "Accelerate", "gradledger": "**gradledger**"}
    rows = [
        (name, *(told(found[key]) if key in found else "–" for found in others.values()))
        for key, name in names.items()
    ]
    yield Table("exactness-more", ("", *others), rows)


def main() -> None:
    """Print the tables, or the numbers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="one process, few libraries; no page is written")
    parser.add_argument("--json", action="store_true", help="numbers instead of tables; no page is written")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    table = libraries(quick=arguments.quick)
    others = {"resumed in mid-window": resumed()}
    if not arguments.quick:
        others = {"two ranks, short against long": ranks(), **others}
    if arguments.json:
        by_module = {ROWS[row][0]: cells for row, cells in table.items() if ROWS[row][1] == "epochs"}
        print(json.dumps({"libraries": by_module, **others}))
    else:
        present(drawn(table, others), keep=not arguments.quick)


if __name__ == "__main__":
    main()
