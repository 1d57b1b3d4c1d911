"""Findings made by hand: the finding's line and the related ones are marked in the program itself."""

from __future__ import annotations

import re
from dataclasses import replace

from gradledger.ledger.site import Site
from gradledger.repair.apply import applied
from gradledger.repair.propose import proposals
from gradledger.repair.text_lines import split_lines
from gradledger.rules.catalogue import find
from gradledger.rules.finding import Certainty, Finding, Related

PATH = "train.py"


def finding(code: str, text: str, here: str, *related: str, message: str = "") -> Finding:
    """A finding of this code at the line that contains `here`, with related lines found likewise."""
    rule = find(code)
    assert rule is not None
    places = tuple(Related(_site(text, other), "") for other in related)
    return Finding(
        code, rule.name, rule.severity, Certainty.CERTAIN, _site(text, here), message, related=places
    )


def _site(text: str, part: str) -> Site:
    """The place of this part of the text; behind `@2` the second place, and so on."""
    part, _, number = part.partition("@")
    offset = [m.start() for m in re.finditer(re.escape(part), text)][int(number or 1) - 1]
    before = split_lines(text[:offset] + "x")
    line, column = len(before), len(before[-1])
    return Site(PATH, line, column, line, column + len(part))


def blurred(exact: Finding) -> Finding:
    """The same finding by lines alone, as a front end without columns would give it."""
    related = tuple(replace(r, site=Site(r.site.path, r.site.line)) for r in exact.related)
    return replace(exact, site=Site(exact.site.path, exact.site.line), related=related)


def repaired(exact: Finding, text: str) -> list[str]:
    """The text after each proposal."""
    return [applied(text, fix.edits) for fix in proposals(exact, text)]


def top(code: str, text: str, here: str, *related: str, message: str = "") -> str:
    """The text after the best proposal, which is the same with columns and without."""
    exact = finding(code, text, here, *related, message=message)
    best, *_ = repaired(exact, text)
    line = text.splitlines()[exact.site.line - 1]
    if ";" not in line:
        assert repaired(blurred(exact), text)[0] == best
    return best
