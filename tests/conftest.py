"""Torch computes on one thread: forked children of a process with a pool of threads would wait for it."""

import os

os.environ["OMP_NUM_THREADS"] = "1"
