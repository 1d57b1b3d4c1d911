"""How findings name places."""

from __future__ import annotations

from gradledger.ledger.site import Site
from gradledger.rules.finding import Related


def line(site: Site | None, seen_from: Site | None = None) -> str:
    """In words: "line 32", or with the file's name where the reader is in another file."""
    if site is None:
        return "an unknown line"
    if seen_from is None or site.path == seen_from.path:
        cell = "" if site.cell is None else f" of cell {site.cell}"
        return f"line {site.line}{cell}"
    return str(site)


def related(*places: tuple[Site | None, str]) -> tuple[Related, ...]:
    """The other lines of a mistake, those that are known, each once."""
    seen: dict[tuple[str, int], Related] = {}
    for site, message in places:
        if site is not None:
            seen.setdefault((site.path, site.line), Related(site, message))
    return tuple(seen.values())


def times(count: int, word: str) -> str:
    """In words: "1 step", "3 steps"; words in -s and -ch take -es."""
    if count == 1:
        return f"1 {word}"
    return f"{count} {word}{'es' if word.endswith(('s', 'ch')) else 's'}"
