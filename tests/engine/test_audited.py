"""An accumulator under the auditor: the same events, nothing to find, nothing changed."""

from __future__ import annotations

from pathlib import Path

import torch

import gradledger
from tests.engine.models import adamw, cut, mean_loss, same_bits, samples, small_model


def train(model, acc) -> None:
    x, y = samples(20)
    for _ in range(3):
        for a, b in acc.batches(cut(x, y, [4, 4, 4, 4, 3, 1])):
            with acc.precision():
                loss = mean_loss(model, a, b)
            acc.backward(loss, count=len(a))


def options(model) -> dict:
    optimizer = adamw(model)
    return {
        "optimizer": optimizer,
        "every": 4,
        "clip_norm": 0.1,
        "precision": "fp16",
        "scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 2),
    }


def test_it_is_audited_in_silence_and_nothing_changes() -> None:
    plain, watched = small_model(), small_model()
    train(plain, gradledger.Accumulator(plain, **options(plain)))
    settings = options(watched)
    with gradledger.watch(watched, settings["optimizer"]) as ledger:
        acc = gradledger.Accumulator(watched, **settings)
        train(watched, acc)
        x, y = samples(4)
        acc.backward(mean_loss(watched, x, y), count=4)
        sheet = ledger.balance(watched[0].weight)
        acc.discard()
        after = ledger.balance(watched[0].weight)
    assert ledger.findings == ()
    assert same_bits(plain, watched)
    assert (sheet.fresh, sheet.stale) == (1, 0)
    assert Path(sheet.entries[0].site.path).name == "test_audited.py"
    assert (after.fresh, after.state) == (0, "none")
    books = ledger._session.books
    assert books.backwards == 19
    assert books.steps + books.optimizers[1].skipped == 6
    assert all(balance.balanced for balance in books.balances.values())


def test_a_recording_holds_its_events(tmp_path: Path) -> None:
    model = small_model()
    path = tmp_path / "run.jsonl"
    with gradledger.watch(save=str(path)):
        train(model, gradledger.Accumulator(model, adamw(model), every=4))
    text = path.read_text()
    assert text.count('"BackwardRan"') >= 1
    assert "GradientCleared" in text
    assert "OptimizerStepped" in text


def test_mistakes_beside_it_are_still_found() -> None:
    model, other = small_model(), small_model(1)
    x, y = samples(8)
    with gradledger.watch() as ledger:
        acc = gradledger.Accumulator(model, adamw(model), every=2)
        forgetful = torch.optim.SGD(other.parameters(), lr=0.1)
        for _ in range(4):
            for a, b in acc.batches(cut(x, y, [4, 4])):
                acc.backward(mean_loss(model, a, b), count=4)
            mean_loss(other, x, y).backward()
            forgetful.step()
    assert [finding.code for finding in ledger.findings] == ["GL101"]
