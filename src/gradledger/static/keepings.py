"""Losses that a variable or a list keeps, with their graphs."""

from __future__ import annotations

import ast
from typing import Any

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.static.changes import Changes
from gradledger.static.turning import Keeping
from gradledger.static.values import Tensor


class Keepings(Changes):
    """The part of the machine that notes what is kept alive."""

    def keeps(
        self,
        node: ast.AST,
        name: str,
        owner: Any,
        loss: Tensor,
        whole: Tensor | None,
        *,
        fresh: bool = False,
    ) -> None:
        """A variable or a list now also holds this loss with its graph; a fresh one holds nothing else."""
        holder = id(owner)
        if not loss.deps or self.no_grad:
            return
        site = self.site(node)
        loop = self.loops[-1] if self.loops else None
        if fresh:
            gone = self.keepings.pop((site, holder), None)
            if gone is not None and gone.loop is loop:
                self.bounded.add(site)
        keeping = self.keepings.get((site, holder))
        if keeping is None:
            before = next((k for (place, _), k in self.keepings.items() if place == site), None)
            if before is not None and before.loop is loop:
                self._let_go(site, before)  # a new list in each window
            self.kept_names.add(name)
            keeping = self.keepings[site, holder] = Keeping(site, name, owner, loop)
        keeping.losses.append((loss, self.loops[-1].turn if self.loops else 0))
        if whole is not None:
            keeping.whole.append(whole.serial)

    def _let_go(self, site: Site, keeping: Keeping) -> None:
        """What is let go in the loop in which it was gathered does not grow."""
        if not self.loops or keeping.loop is None:
            return
        inner, here = keeping.loop, self.loops[-1]
        parts = inner.members or (inner.micro and not inner.loader and not inner.steps)
        if inner.node is here.node or here.loader or parts:
            self.bounded.add(site)

    def rebound(self, name: str) -> None:
        """A name was given another value, in which what it held before has no part."""
        for keeping in self.keepings.values() if name in self.kept_names else ():
            if keeping.name == name:
                self._let_go(keeping.site, keeping)

    def emptied(self, owner: Any) -> None:
        """A list was cleared."""
        for place, holder in [key for key in self.keepings if key[1] == id(owner)]:
            self._let_go(place, self.keepings.pop((place, holder)))

    def say_what_is_kept(self) -> None:
        """Graphs of finished passes that a variable still refers to."""
        sums: set[int] = set()
        for keeping in self.keepings.values():
            if keeping.site in self.bounded or self.unit.shortens(keeping.name):
                continue
            if any(not sums.isdisjoint(loss.parts) for loss, _ in keeping.losses):
                continue  # what is wrong with it was said of the sum it is made of
            if any(serial in self.covered for serial in keeping.whole):
                continue
            if any(loss.serial in self.inside for loss, _ in keeping.losses):
                continue  # kept for a backward() over all of them
            if any(loss.serial in self.retained for loss, _ in keeping.losses):
                continue  # its pass kept the graph on purpose
            # Kept for a backward() of its own in a later loop is no leak.
            held = [
                loss
                for loss, turn in keeping.losses
                if any(
                    turn in self.rooted[root] and not self._hidden_since(loss, root)
                    for root in (loss.serial, *loss.parts)
                    if root in self.rooted
                )
            ]
            if len(held) >= 2:
                sums.update(keeping.whole)
                self.events.append(ev.GraphKept(keeping.site, keeping.name, len(held)))

    def _hidden_since(self, loss: Tensor, root: int) -> bool:
        """Whether something unseen made this of the root of a pass: it may have taken it out of its graph."""
        return any(serial in self.obscure and serial > root for serial in (loss.serial, *loss.parts))
