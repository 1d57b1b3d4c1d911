"""Graphs that stay in memory after their backward: who holds them?"""

from __future__ import annotations

import sys
import threading
import weakref
from collections import deque
from types import FrameType
from typing import Any

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime.holders import Holder, holders
from gradledger.runtime.observer import Observer

_KEY = "gradledger"
ENOUGH = 6
"""So many finished graphs alive at once are no accident."""


class _Token:
    """Lives exactly as long as the graph node it is tied to."""

    __slots__ = ("__weakref__", "number")

    def __init__(self, number: int) -> None:
        self.number = number


class KeptGraphs(threading.local):
    """Ties a token to the nodes near the root of some graphs, and looks later which tokens still live.

    Each thread looks after its own.
    """

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._tokens: deque[tuple[int, list[weakref.ref[_Token]]]] = deque(maxlen=64)
        self._passes = 0
        self._reported: set[tuple[Site | None, str]] = set()

    def tag(self, roots: list[Any]) -> None:
        """Tie tokens to a graph that is about to be differentiated."""
        tokens: list[weakref.ref[_Token]] = []
        level = list(roots)
        for _ in range(3):
            below = []
            for node in level[:8]:
                if node is None or node.name().endswith("AccumulateGrad"):
                    continue
                if _KEY not in node.metadata:
                    token = _Token(self._passes)
                    node.metadata[_KEY] = token
                    tokens.append(weakref.ref(token))
                below += [following for following, _ in node.next_functions]
            level = below
        self._tokens.append((self._passes, tokens))

    def check(self, site: Site) -> None:
        """Now and then: are graphs of long finished passes still there?"""
        self._passes += 1
        if self._passes < 64 or self._passes % 16 == 0:
            self.look(site)

    def look(self, site: Site) -> None:
        """Count the living graphs of finished passes and find the variable that holds them."""
        alive = sorted(
            n for n, tokens in self._tokens if n < self._passes - 1 and any(r() is not None for r in tokens)
        )
        if len(alive) < ENOUGH:
            return
        sites, living = self.observer.sites, set(alive)
        frame = sites.frame(_caller())
        while frame is not None:
            for holder in holders(frame):
                if self._reaches(holder, living):
                    at = holder.filled_at(frame, site, sites.is_users)
                    if at is not None:
                        self._report(at, holder.name, len(alive))
                        return
            frame = sites.frame(frame.f_back)

    def _report(self, at: Site, name: str, held: int) -> None:
        if (at, name) not in self._reported:
            self._reported.add((at, name))
            self.observer.post(ev.GraphKept(at, name, held))

    def _reaches(self, holder: Holder, alive: set[int]) -> bool:
        found: set[int] = set()
        stack: list[Any] = [t.grad_fn for t in holder.tensors() if t.grad_fn is not None]
        seen: set[Any] = set()
        while stack and len(seen) < 5000 and len(found) < 3:
            node = stack.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            token = node.metadata.get(_KEY)
            if isinstance(token, _Token) and token.number in alive:
                found.add(token.number)
                # Below a root lies only its own graph; other roots are beside it.
                stack += [below for below, _ in node.next_functions][:2]
                continue
            stack += [below for below, _ in node.next_functions]
        return len(found) >= 3


def _caller() -> FrameType | None:
    return sys._getframe(2)
