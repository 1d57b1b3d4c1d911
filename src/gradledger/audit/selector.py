"""The words by which a user means rules: codes, prefixes of codes, names."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.rules.catalogue import catalogue, find


class UnknownRuleError(ValueError):
    """A word that means no rule; the text offers the nearest ones."""

    def __init__(self, word: str) -> None:
        """Keep the word and look for similar ones."""
        near = nearest(word)
        hint = f" (nearest: {', '.join(near)})" if near else ""
        super().__init__(f'unknown rule "{word}"{hint}')
        self.word = word


def expand(words: Iterable[str]) -> frozenset[str]:
    """The codes meant by codes (GL101), prefixes (GL3), names (stale-gradient) or `all`."""
    return frozenset(code for word in words for code in _codes(word))


def exact(words: Iterable[str]) -> frozenset[str]:
    """The codes that are named one by one, not through a prefix."""
    rules = (find(word) for word in words)
    return frozenset(rule.code for rule in rules if rule is not None)


def nearest(word: str) -> tuple[str, ...]:
    """Names (or codes, if the word looks like one) that resemble the word."""
    from difflib import get_close_matches  # only a misspelt word needs it

    wanted = word.strip().lower()
    if wanted.startswith("gl"):
        codes = [rule.code for rule in catalogue()]
        return tuple(get_close_matches(wanted.upper(), codes, n=3, cutoff=0.6))
    return tuple(get_close_matches(wanted, [rule.name for rule in catalogue()], n=3, cutoff=0.65))


def _codes(word: str) -> frozenset[str]:
    wanted = word.strip().upper()
    if wanted == "ALL":
        return frozenset(rule.code for rule in catalogue())
    rule = find(word)
    if rule is not None:
        return frozenset({rule.code})
    started = frozenset(r.code for r in catalogue() if wanted.startswith("GL") and r.code.startswith(wanted))
    if not started:
        raise UnknownRuleError(word)
    return started
