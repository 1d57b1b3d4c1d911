"""Torch computes on one thread: forked children of a process with a pool of threads would wait for it."""

import os
import signal

from tests.browsing import browser

os.environ["OMP_NUM_THREADS"] = "1"

# A shell's background jobs ignore Ctrl-C, and so would every program that a test starts to interrupt it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

__all__ = ["browser"]
