"""The store at which the processes of one torchrun meet."""

from __future__ import annotations

from datetime import timedelta

from torch._C._distributed_c10d import TCPStore


def store_at(host: str, port: int, seconds: float) -> TCPStore:
    """Connect to a store that somebody else keeps; raises if nobody answers in time."""
    return TCPStore(host, port, is_master=False, wait_for_workers=False, timeout=timedelta(seconds=seconds))
