"""Epochs: when a loader ran out, and which batches were still waiting for a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from gradledger.ledger import events as ev
from tests.watched import Watched, watched


class Stream(IterableDataset):
    def __iter__(self) -> Iterator[Tensor]:
        return iter(torch.ones(6, 3))


class Mapping(Dataset):
    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Tensor:
        return torch.ones(3) * index


def pair() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


LOADERS: dict[str, Any] = {
    "in this process": {"dataset": Mapping()},
    "shuffled": {"dataset": Mapping(), "shuffle": True},
    "two workers": {"dataset": Mapping(), "num_workers": 2},
    "persistent workers": {"dataset": Mapping(), "num_workers": 2, "persistent_workers": True},
    "a stream": {"dataset": Stream()},
    "a list": {"dataset": list(torch.ones(6, 3))},
}


@pytest.mark.parametrize("options", LOADERS.values(), ids=LOADERS)
def test_each_epoch_ends_once(options: dict[str, Any]) -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        loader = DataLoader(batch_size=2, **options)
        for _ in range(3):
            for x in loader:
                optimizer.zero_grad()
                model(x).square().mean().backward()
                optimizer.step()
    assert watch.ledger.findings == ()
    assert len(watch.events(ev.EpochEnded)) == 3
    sources = {event.source for event in watch.events(ev.EpochEnded)}
    assert sources == {ran.loader for ran in watch.events(ev.BackwardRan)}
    assert len(sources) == 1
    assert watch.books.backwards == 9


@pytest.mark.parametrize("workers", [0, 2])
def test_a_short_tail_that_leaks_into_the_next_epoch(workers: int) -> None:
    model, optimizer = pair()
    window = 4
    with watched(model, optimizer) as watch:
        loader = DataLoader(Mapping(), batch_size=1, num_workers=workers)
        for _ in range(4):
            for i, x in enumerate(loader):
                (model(x).square().mean() / window).backward()
                if (i + 1) % window == 0:
                    optimizer.step()
                    optimizer.zero_grad()
            assert [fresh for fresh, _ in watch.count(model.weight)] == [2]
            sheet = watch.balance(model.weight)
            assert len(sheet.entries) == 1
    assert watch.codes == {"GL202"}


def test_a_tail_that_is_flushed() -> None:
    model, optimizer = pair()
    window = 4
    with watched(model, optimizer) as watch:
        loader = DataLoader(Mapping(), batch_size=1)
        for _ in range(4):
            for i, x in enumerate(loader):
                (model(x).square().mean() / window).backward()
                if (i + 1) % window == 0 or i + 1 == len(loader):
                    optimizer.step()
                    optimizer.zero_grad()
            assert watch.count(model.weight) == [(0, 0)]
    assert watch.ledger.findings == ()


def test_an_epoch_broken_off_ends_with_the_next() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        loader = DataLoader(Mapping(), batch_size=1)
        for _ in range(3):
            for i, x in enumerate(loader):
                optimizer.zero_grad()
                model(x).square().mean().backward()
                optimizer.step()
                if i == 3:
                    break
    assert len(watch.events(ev.EpochEnded)) == 2
    assert watch.ledger.findings == ()


def test_loaders_are_told_apart() -> None:
    model, optimizer = pair()

    def train(watch: Watched, loader: DataLoader) -> None:
        for x in loader:
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()

    with watched(model, optimizer) as watch:
        loaders = [DataLoader(Mapping(), batch_size=2), DataLoader(Mapping(), batch_size=3)]
        for loader in loaders * 2:
            train(watch, loader)
    assert len({event.source for event in watch.events(ev.EpochEnded)}) == 2
    assert len(watch.events(ev.EpochEnded)) == 4


def test_an_evaluation_between_two_windows_ends_no_epoch_of_training() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        training = DataLoader(Mapping(), batch_size=1)
        testing = DataLoader(TensorDataset(torch.ones(4, 3)), batch_size=2)
        for i, x in enumerate([*training, *training]):
            (model(x).square().mean() / 4).backward()
            if (i + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
            if i % 3 == 0:
                with torch.no_grad():
                    for (batch,) in testing:
                        model(batch)
    assert watch.ledger.findings == ()
    assert watch.books.steps == 3


def test_plain_loops_turn_as_well() -> None:
    model, optimizer = pair()
    batches = torch.ones(6, 1, 3)
    window = 4
    with watched(model, optimizer) as watch:
        for _epoch in range(4):
            for i, x in enumerate(batches):
                (model(x).square().mean() / window).backward()
                if (i + 1) % window == 0:
                    optimizer.step()
                    optimizer.zero_grad()
    assert watch.events(ev.EpochEnded)
    assert watch.codes == {"GL202"}


def test_batches_come_as_ever() -> None:
    plain = [x for _ in range(2) for x in DataLoader(Mapping(), batch_size=4)]
    with watched():
        seen = [x for _ in range(2) for x in DataLoader(Mapping(), batch_size=4)]
        iterator = iter(DataLoader(Mapping(), batch_size=6))
        next(iterator)
        for _ in range(2):
            with pytest.raises(StopIteration):
                next(iterator)
        assert len(iterator) == 1
    assert all(torch.equal(a, b) for a, b in zip(plain, seen, strict=True))
