"""Many files at a time, in several processes where that is worth it and possible."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from gradledger.checking.neighbours import Neighbours
from gradledger.checking.outcome import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradledger.checking.cache import Cache

WORTH_IT = 16
"""Fewer files than this are checked sooner than processes are started."""

Job = tuple[str, bytes]
"""A path and its bytes."""


class Checker:
    """Checks one file after another in this process, keeping what it finds."""

    def __init__(self, cwd: str, cache: Cache | None) -> None:
        self.neighbours = Neighbours(cwd)
        self._cache = cache

    def recall(self, job: Job) -> Outcome | None:
        """What the cache knows."""
        return None if self._cache is None else self._cache.recall(*job, self.neighbours)

    def check(self, job: Job) -> Outcome:
        """Judge the file; a run that finds everything in the cache never loads what this needs."""
        from gradledger.checking.one_file import check_file

        path, raw = job
        self.neighbours.asked = {}
        outcome = check_file(path, raw, self.neighbours)
        if self._cache is not None:
            self._cache.keep(outcome, raw, self.neighbours.asked, self.neighbours)
        return outcome


def check_all(
    jobs: Sequence[Job], cwd: str, cache: Cache | None, tick: Callable[[], None] | None = None
) -> list[Outcome]:
    """The outcomes in the order of the jobs; `tick` is called for each that had to be made."""
    told = tick or _nothing
    checker = Checker(cwd, cache)
    known = [checker.recall(job) for job in jobs]
    left = [job for job, outcome in zip(jobs, known, strict=True) if outcome is None]
    fresh: list[Outcome] = []
    count = min(_processors(), len(left) // (WORTH_IT // 2))
    if count > 1:
        fresh += _in_processes(left, count, cwd, cache, told)
    for job in left[len(fresh) :]:
        fresh.append(checker.check(job))
        told()
    ready = iter(fresh)
    return [next(ready) if outcome is None else outcome for outcome in known]


def _nothing() -> None:
    """Nobody wants to know."""


def _in_processes(
    jobs: Sequence[Job], count: int, cwd: str, cache: Cache | None, told: Callable[[], None]
) -> list[Outcome]:
    """As many outcomes as processes can give; where they cannot be had, the caller does the rest."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    import gradledger.checking.one_file  # noqa: F401 (once for all processes, where they are forked)

    others = multiprocessing.active_children()
    done: list[Outcome] = []
    try:
        pool = ProcessPoolExecutor(count, initializer=_begin, initargs=(cwd, cache))
    except (OSError, ImportError, NotImplementedError):  # no semaphores here
        return done
    try:
        # a few at a time: neighbours are read once for each process, the last ones end together
        for outcome in pool.map(_work, jobs, chunksize=max(1, min(8, len(jobs) // (count * 4)))):
            done.append(outcome)
            told()
    except (BrokenProcessPool, OSError):  # killed for its memory, say
        pool.shutdown(wait=False, cancel_futures=True)
    except BaseException:
        _hush(pool)
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            if child not in others:
                child.terminate()
        raise
    else:
        pool.shutdown()
    return done


def _hush(pool: object) -> None:
    """Let the pool's own thread end in silence: it may stumble over answers that nobody waits for."""
    import threading

    manager, usual = getattr(pool, "_executor_manager_thread", None), threading.excepthook
    threading.excepthook = lambda fault: None if fault.thread is manager else usual(fault)


_checker: Checker | None = None


def _begin(cwd: str, cache: Cache | None) -> None:
    import signal
    import threading

    global _checker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _checker = Checker(cwd, cache)


def _end_with_parent() -> None:
    """Nobody waits for our answers once the parent was killed; the others would keep us waiting for work."""
    from multiprocessing import connection, parent_process

    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _work(job: Job) -> Outcome:
    assert _checker is not None
    return _checker.check(job)


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1
