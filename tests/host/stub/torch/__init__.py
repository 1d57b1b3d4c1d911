"""Stands in for torch: importing it is quick, and "training" is a call."""

import os

imported_with = os.environ.get("STUB_SETTING")
watchers = []


def backward():
    for watcher in watchers:
        watcher()


if os.environ.get("STUB_BROKEN"):
    raise OSError("libstub.so: cannot open shared object file")
