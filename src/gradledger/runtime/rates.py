"""How the learning rate of an optimizer is written down where it is built."""

from __future__ import annotations

import ast

from gradledger.ledger.site import Site
from gradledger.runtime import source


def divided_rate(site: Site | None) -> bool:
    """Whether it is a quotient, `lr=0.1 / accumulate`: then the sum of a window's losses may be meant."""
    if site is None:
        return False
    chain = source.ancestors(site.path, site.line)
    calls = [node for node in ast.walk(chain[-1]) if isinstance(node, ast.Call)] if chain else []
    rates = [keyword.value for call in calls for keyword in call.keywords if keyword.arg == "lr"]
    rates += [call.args[1] for call in calls if len(call.args) == 2]
    return any(isinstance(rate, ast.BinOp) and isinstance(rate.op, ast.Div) for rate in rates)
