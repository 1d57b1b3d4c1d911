"""Files that several processes of one run write."""

from __future__ import annotations

from pathlib import Path


def with_rank(path: str, rank: int) -> str:
    """The path for this process: rank 0 keeps it, the others put their number before the ending.

    Doing it twice is doing it once.
    """
    if rank == 0:
        return path
    whole = Path(path)
    mark = f".rank{rank}"
    if whole.stem.endswith(mark) or whole.name.endswith(mark):
        return path
    return str(whole.with_name(f"{whole.stem}{mark}{whole.suffix}"))
