"""Paths as the user gives them -> the outcome of every file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from gradledger.checking.outcome import Outcome, Outcomes
from gradledger.checking.problem import Problem
from gradledger.checking.reading import read, trains

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradledger.checking.walking import Excluded


def check_paths(
    paths: Iterable[str],
    cwd: str,
    *,
    excluded: Excluded | None = None,
    cached: bool = False,
    tick: Callable[[], None] | None = None,
) -> Outcomes:
    """Check all files at and below the paths; a file that is met twice is checked once."""
    seen: set[str] = set()
    outcomes: list[Outcome | None] = []
    jobs: list[tuple[str, bytes]] = []
    places: list[int] = []
    for path, named in _files(paths, cwd, excluded):
        if isinstance(path, Problem):
            outcomes.append(Outcome(path.path, problems=(path,)))
            continue
        if path in seen:
            continue
        seen.add(path)
        raw = read(path, named=named)
        if raw is None:
            continue
        if isinstance(raw, Problem):
            outcomes.append(Outcome(path, problems=(raw,)))
        elif trains(raw):
            places.append(len(outcomes))
            jobs.append((path, raw))
            outcomes.append(None)
        else:
            outcomes += _without_training(path, raw)
    if jobs:
        for place, outcome in zip(places, _checked(jobs, cwd, tick, cached=cached), strict=True):
            outcomes[place] = outcome
    told = (o for o in outcomes if o is not None and (o.findings or o.notes or o.problems))
    return Outcomes(len(seen), tuple(told))


def _checked(
    jobs: list[tuple[str, bytes]], cwd: str, tick: Callable[[], None] | None, *, cached: bool
) -> list[Outcome]:
    from gradledger.checking.workers import check_all

    cache = None
    if cached:
        from gradledger.checking.cache import Cache, cache_folder

        cache = Cache(cache_folder(cwd), cwd)
    return check_all(jobs, cwd, cache, tick)


def _without_training(path: str, raw: bytes) -> list[Outcome]:
    from gradledger.checking.syntax import syntax_problem

    problem = syntax_problem(path, raw)
    return [] if problem is None else [Outcome(path, problems=(problem,))]


def _files(paths: Iterable[str], cwd: str, excluded: Excluded | None) -> Iterator[tuple[str | Problem, bool]]:
    """Every file or problem, and whether the user named the file himself."""
    for given in paths:
        path = os.path.normpath(os.path.join(cwd, given))
        if os.path.isdir(path):
            from gradledger.checking.walking import source_files  # no folder, no need for it

            for found in source_files(path, excluded):
                yield found, False
        elif os.path.lexists(path):
            yield path, True
        else:
            yield Problem(path, 1, "does not exist"), True
