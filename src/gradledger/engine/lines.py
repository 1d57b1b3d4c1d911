"""The user's line behind a call into the engine."""

from __future__ import annotations

import functools
import os
import sys
from types import CodeType, FrameType

import torch

from gradledger.ledger.site import Site

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_TORCH = os.path.dirname(torch.__file__) + os.sep
_known: dict[tuple[int, int], tuple[Site, CodeType]] = {}
"""Lines by code and instruction. To hash code, or to ask a frame for its line, takes the longer the longer
the function is; so addresses are used, and the code is kept so that no other gets the same."""
_sites: dict[Site, Site] = {}


def caller() -> Site:
    """The innermost line outside this package and outside torch; the same line is the same object."""
    frame: FrameType = sys._getframe(1)
    while _is_inner(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    code = frame.f_code
    key = (id(code), frame.f_lasti)
    known = _known.get(key)
    if known is not None:
        return known[0]
    if len(_known) > 10_000:
        _known.clear()
        _sites.clear()
    path, line = code.co_filename, frame.f_lineno
    path = path if path.startswith("<") else os.path.abspath(path)
    site = Site(path, line, end_line=line, function=code.co_name)
    site = _sites.setdefault(site, site)
    _known[key] = (site, code)
    return site


@functools.lru_cache(maxsize=1_000)
def _is_inner(path: str) -> bool:
    return path.startswith((_OURS, _TORCH))
