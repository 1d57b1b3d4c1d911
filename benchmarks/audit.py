"""What auditing costs: audited against unaudited steps, interleaved in one process, one thread, CPU time.

python benchmarks/audit.py            the tables, also into the pages
python benchmarks/audit.py --quick    fewer rounds, printed only
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import nn

import gradledger
from figures.tables import Table, run, setting, spread

Step = Callable[[], None]
Built = tuple[Step, nn.Module, torch.optim.Optimizer]
Around = Callable[[nn.Module, torch.optim.Optimizer], contextlib.AbstractContextManager[object]]


@dataclass(frozen=True)
class Case:
    """A model to train: `build()` gives a step, of which `steps` are timed in one block."""

    name: str
    build: Callable[[], Built]
    steps: int
    limit: float
    saved: float
    """The goal with a recording."""


def tiny(kind: str) -> Built:
    """The MLP 10-32-1 on batches of 8."""
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = getattr(torch.optim, kind)(model.parameters(), lr=1e-3)
    return _loop(model, optimizer, torch.randn(8, 10), torch.randn(8, 1)), model, optimizer


def clipped() -> Built:
    """The same MLP with its gradients clipped in every step."""
    _, model, optimizer = tiny("SGD")
    x, y, loss_fn = torch.randn(8, 10), torch.randn(8, 1), nn.MSELoss()

    def step() -> None:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step, model, optimizer


def scaled() -> Built:
    """The same MLP with a gradient scaler, and a schedule that advances in every step."""
    _, model, optimizer = tiny("SGD")
    x, y, loss_fn = torch.randn(8, 10), torch.randn(8, 1), nn.MSELoss()
    scaler = torch.amp.GradScaler("cpu")
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1_000_000)

    def step() -> None:
        optimizer.zero_grad()
        scaler.scale(loss_fn(model(x), y)).backward()
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()

    return step, model, optimizer


def transformer() -> Built:
    """Four encoder layers of width 128 on 8 sequences of 64."""
    layer = nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), nn.Linear(128, 8))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return _loop(model, optimizer, torch.randn(8, 64, 128), torch.randn(8, 64, 8)), model, optimizer


def thousand() -> Built:
    """Five hundred linear layers of width 64: a thousand parameter tensors."""
    model = nn.Sequential(*(nn.Linear(64, 64) for _ in range(500)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return _loop(model, optimizer, torch.randn(32, 64), torch.randn(32, 64)), model, optimizer


def _loop(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor) -> Step:
    loss_fn = nn.MSELoss()

    def step() -> None:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()

    return step


CASES = (
    Case("tiny MLP, SGD", lambda: tiny("SGD"), 300, 1.10, 1.15),
    Case("tiny MLP, AdamW", lambda: tiny("AdamW"), 300, 1.10, 1.15),
    Case("tiny MLP, clipping", clipped, 300, 1.12, 1.15),
    Case("tiny MLP, scaler, schedule", scaled, 300, 1.12, 1.15),
    Case("transformer, 4 layers", transformer, 12, 1.02, 1.02),
    Case("1,000 parameter tensors", thousand, 6, 1.02, 1.02),
)


@contextlib.contextmanager
def recorded(*_: object) -> Iterator[None]:
    """The audit that also writes what `run --save` writes."""
    with tempfile.TemporaryDirectory() as folder, gradledger.watch(save=f"{folder}/run.jsonl"):
        yield


def anomaly(*_: object) -> contextlib.AbstractContextManager[object]:
    """torch's own anomaly mode."""
    return torch.autograd.detect_anomaly(check_nan=True)


def torch_audit(
    model: nn.Module, optimizer: torch.optim.Optimizer
) -> contextlib.AbstractContextManager[object]:
    """The package torch-audit at every step, as its documentation starts it, where it is installed."""
    from torch_audit import autopatch  # type: ignore[import-not-found]

    autopatch(model, optimizer=optimizer, every_n_steps=1, reporters=[], fail_level="FATAL")
    return contextlib.nullcontext()


def seconds(step: Step, count: int) -> float:
    """CPU time of so many steps."""
    start = time.process_time()
    for _ in range(count):
        step()
    return (time.process_time() - start) / count


def compare(case: Case, around: Around, rounds: int) -> list[float]:
    """The ratio to the plain step, once for each round; the two take turns."""
    ratios = []
    for _ in range(rounds):
        torch.manual_seed(0)
        plain, *_rest = case.build()
        step, model, optimizer = case.build()
        for warm in (plain, step):
            seconds(warm, max(3, case.steps // 4))
        gc.collect()
        first = seconds(plain, case.steps)
        with around(model, optimizer):
            seconds(step, max(40, case.steps // 4))  # what is learnt once per program is not part of a step
            audited = seconds(step, case.steps)
        second = seconds(plain, case.steps)
        ratios.append(audited / ((first + second) / 2))
    return ratios


PEERS = {"torch's anomaly mode": anomaly, "torch-audit at every step": torch_audit}


def audit_table(rounds: int) -> Table:
    """Each model audited, and audited with a recording."""
    rows = []
    for case in CASES:
        ours = spread(compare(case, lambda *_: gradledger.watch(), rounds))
        saving = spread(compare(case, recorded, rounds))
        rows.append((case.name, ours, f"{case.limit:.2f}", saving, f"{case.saved:.2f}"))
    columns = ("model", "audit", "goal", "audit with a recording", "goal")
    return Table("audit", columns, rows, _note(rounds))


def peers_table(rounds: int) -> Table:
    """The tiny model under other tools that look at every step."""
    case = CASES[0]
    rows = [("gradledger", spread(compare(case, lambda *_: gradledger.watch(), rounds)))]
    for name, around in PEERS.items():
        if around is torch_audit and importlib.util.find_spec("torch_audit") is None:
            rows.append((name, "not installed"))
            continue
        with contextlib.redirect_stdout(None):
            rows.append((name, spread(compare(case, around, rounds))))
    return Table("audit-peers", ("a tiny MLP with SGD under", "ratio"), rows, _note(rounds))


def _note(rounds: int) -> str:
    return (
        "CPU time of a step against the same step unaudited; median and quartiles of "
        f"{rounds} rounds in turns. {setting('torch')}"
    )


def tables(quick: bool) -> Iterator[Table]:
    """Both of them."""
    torch.set_num_threads(1)
    rounds = 5 if quick else 15
    yield audit_table(rounds)
    yield peers_table(rounds)


if __name__ == "__main__":
    run(__doc__, tables)
