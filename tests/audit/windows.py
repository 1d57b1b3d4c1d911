"""The part of `os` that paths are reckoned with, as on Windows, where no path leads from drive to drive."""

from __future__ import annotations

import ntpath
from types import SimpleNamespace

WINDOWS = SimpleNamespace(path=ntpath, sep="\\", pardir="..", getcwd=lambda: r"C:\project")
