"""The files of one rank: several moments of a run, so that all ranks can go on from the same one.

Ranks save on their own, and a process may die when one has saved and another has not. So each rank keeps,
beside its newest file, what it saved earlier in the same window, and the last one of the windows before. That
is enough: a window closes on all ranks together, so none is further ahead. When they resume, they agree on
the newest moment that all of them have.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any

import torch.distributed as dist

from gradledger.engine import checkpoint_file
from gradledger.ledger.record import dataclass
from gradledger.parallel.reduction import Reduction


@dataclass(frozen=True, slots=True)
class Moment:
    """When a checkpoint was saved, in numbers that are the same on all ranks."""

    run: str
    window: int
    number: int
    """Counts the saves within the window."""

    @property
    def order(self) -> tuple[int, int]:
        """Later moments of a run are greater."""
        return self.window, self.number

    def __str__(self) -> str:
        return f"save {self.number} of window {self.window}"


class Generations:
    """Writes this rank's files, and finds the one that all ranks have."""

    def __init__(self, reduction: Reduction) -> None:
        self._reduction = reduction
        self._last: Moment | None = None
        self._held: dict[Path, Moment] = {}
        """What the files of this run hold; others are overwritten and forgotten."""

    def save(self, path: str | os.PathLike[str], window: int, content: dict[str, Any]) -> None:
        """Write the newest moment, and keep those that another rank may still need."""
        target = of_rank(path)
        last = self._last
        if last is None:
            moment = Moment(_name_of_run(), window, 1)
        else:
            moment = Moment(last.run, window, last.number + 1 if last.window == window else 1)
        if target in self._held:
            _link(target, _older(target, self._held[target]))
        content |= {"moment": [moment.run, moment.window, moment.number], "first": last is None}
        checkpoint_file.write(target, content)
        self._last = self._held[target] = moment
        _prune(target, moment)

    def agreed(self, path: str | os.PathLike[str], *, or_none: bool) -> dict[str, Any] | None:
        """The newest content that all ranks have; None, if that may be, where no rank has got so far."""
        target = of_rank(path)
        newest, fault = _read(target)
        held = {} if newest is None else {_moment(newest): target}
        held |= {moment: file for file in _older_ones(target) if (moment := _named(target, file)) is not None}
        begun = all(_is_first(newest, moment) for moment in held)
        mine = (fault, begun, [(m.run, m.window, m.number) for m in held])
        ranks = self._reduction.gathered(mine)
        faults = [f"rank {rank}: {fault}" for rank, (fault, _, _) in enumerate(ranks) if fault]
        if faults:
            raise ValueError("; ".join(faults))
        common = set.intersection(*(set(map(tuple, moments)) for _, _, moments in ranks))
        if not common:
            if or_none and all(begun for _, begun, _ in ranks):
                return None
            raise ValueError(_nothing_in_common(path, [moments for _, _, moments in ranks]))
        run = next(iter(held)).run  # the newest file's: a moment of it that all have is newer than any other
        chosen = max((Moment(*m) for m in common), key=lambda m: (m.run == run, m.order))
        content = newest if held[chosen] == target else _checked(held[chosen])
        self._go_on_from(target, held, chosen)
        return content

    def _go_on_from(self, target: Path, held: dict[Moment, Path], chosen: Moment) -> None:
        """Make the agreed moment the newest; what was saved after it did not happen."""
        if held[chosen] != target:
            os.replace(held[chosen], target)
        for moment, file in held.items():
            if file != target and (moment.run != chosen.run or moment.order > chosen.order):
                file.unlink(missing_ok=True)
        self._last = self._held[target] = chosen


def of_rank(path: str | os.PathLike[str]) -> Path:
    """Each rank's window is its own: the rank is part of the name."""
    target = Path(path)
    return target.with_name(f"{target.stem}.rank{dist.get_rank()}{target.suffix}")


def _name_of_run() -> str:
    """A random name that the ranks share through the store they met at; nobody has to wait for anybody."""
    mine = secrets.token_hex(4)
    with contextlib.suppress(Exception):  # an own kind of process group may have no such store
        store = dist.distributed_c10d._get_default_store()
        return bytes(store.compare_set("gradledger/run", "", mine)).decode()
    return "run"


def _read(target: Path) -> tuple[dict[str, Any] | None, str | None]:
    """The newest content, and what is wrong with it."""
    if not target.exists():
        return None, None
    try:
        return _checked(target), None
    except ValueError as error:
        return None, str(error)


def _checked(file: Path) -> dict[str, Any]:
    content = checkpoint_file.read(file)
    if not isinstance(content, dict) or not _is_moment(content.get("moment")):
        raise ValueError(f"{file} is not a checkpoint of one rank of gradledger.Accumulator")
    return content


def _is_moment(value: Any) -> bool:
    return isinstance(value, list) and [type(part) for part in value] == [str, int, int]


def _moment(content: dict[str, Any]) -> Moment:
    return Moment(*content["moment"])


def _is_first(newest: dict[str, Any] | None, moment: Moment) -> bool:
    """Whether there was no moment before this one, in which all ranks might have been."""
    return newest is not None and bool(newest.get("first")) and _moment(newest) == moment


def _older(target: Path, moment: Moment) -> Path:
    return target.with_name(f".{target.name}.at-{moment.run}-{moment.window}-{moment.number}")


def _older_ones(target: Path) -> list[Path]:
    start = f".{target.name}.at-"
    return [file for file in target.parent.iterdir() if file.name.startswith(start)]


def _named(target: Path, file: Path) -> Moment | None:
    run, _, rest = file.name.removeprefix(f".{target.name}.at-").partition("-")
    window, _, number = rest.partition("-")
    return Moment(run, int(window), int(number)) if window.isdecimal() and number.isdecimal() else None


def _link(source: Path, second: Path) -> None:
    """Give a file a second name, before its first one goes to another."""
    try:
        os.link(source, second)
    except FileExistsError:
        return
    except OSError:  # a file system without links: for a moment the newest has only its second name
        os.replace(source, second)


def _prune(target: Path, newest: Moment) -> None:
    """Remove what no rank can need: all of other runs, and of earlier windows all but the last."""
    before: list[tuple[tuple[int, int], Path]] = []
    for file in _older_ones(target):
        moment = _named(target, file)
        if moment is None or moment.run != newest.run:
            file.unlink(missing_ok=True)
        elif moment.window < newest.window:
            before.append((moment.order, file))
    for _, file in sorted(before)[:-1]:
        file.unlink(missing_ok=True)


def _nothing_in_common(path: str | os.PathLike[str], ranks: list[Any]) -> str:
    if not any(ranks):
        return f"there is no checkpoint {path}"
    have = "; ".join(
        f"rank {rank} has " + (", ".join(str(Moment(*m)) for m in sorted(moments)[-3:]) or "none")
        for rank, moments in enumerate(ranks)
    )
    return (
        f"the ranks have no moment of {path} in common ({have}): save on every rank after the same "
        "micro-batches, and resume from an older checkpoint"
    )
