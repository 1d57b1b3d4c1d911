"""The lines of the program that take part in a run, each listed once."""

from __future__ import annotations

from gradledger.audit.place import shown_place
from gradledger.audit.source import source_line
from gradledger.ledger.site import Site

MOST = 2000
"""A program that calls itself from more lines than this has the others counted as unknown."""
LONGEST = 160


class Lines:
    """Numbers for lines; -1 where none can be told."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._numbers: dict[tuple[str, int | None, int], int] = {}
        self.listed: list[dict[str, str]] = []

    def number(self, site: Site | None) -> int:
        """The number of this line, given when it is first asked for."""
        if site is None:
            return -1
        key = site.path, site.cell, site.line
        known = self._numbers.get(key)
        if known is None:
            if len(self.listed) >= MOST:
                return -1
            known = self._numbers[key] = len(self.listed)
            code = source_line(site.path, site.line, site.cell).strip()
            place = shown_place(site, self._cwd)
            self.listed.append({"place": place, "code": code[:LONGEST]})
        return known
