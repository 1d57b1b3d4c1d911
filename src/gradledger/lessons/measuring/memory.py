"""How much memory the tensors of some work take at most, as PyTorch's own profiler sees it."""

from __future__ import annotations

import os
from collections.abc import Callable

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it would tell on stderr when it begins and ends

from torch.profiler import ProfilerActivity, profile

MIB = 2**20


def peak(work: Callable[[], object]) -> float:
    """MiB allocated at the highest point, above what was there before."""
    return max(_course(work), default=0.0)


def left(work: Callable[[], object]) -> float:
    """MiB by which the work has changed what is allocated."""
    course = _course(work)
    return course[-1] if course else 0.0


def _course(work: Callable[[], object]) -> list[float]:
    """MiB allocated after each allocation and each release."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as profiler:
        kept = work()
    results = profiler.profiler.kineto_results if profiler.profiler else None
    events = [event for event in results.events() if event.name() == "[memory]"] if results else []
    del kept
    live, course = 0, []
    for event in sorted(events, key=lambda event: event.start_ns()):
        live += event.nbytes()
        course.append(live / MIB)
    return course
