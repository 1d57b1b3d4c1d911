"""All rules, found by looking into this folder: a new rule is one new file."""

from __future__ import annotations

import importlib
from functools import cache

import gradledger.rules
from gradledger.ledger.modules import modules_in
from gradledger.rules.rule import Rule


@cache
def catalogue() -> tuple[Rule, ...]:
    """Every rule, in the order of the codes."""
    names = [name for name in modules_in(gradledger.rules.__path__) if name.startswith("gl")]
    for name in names:
        importlib.import_module(f"gradledger.rules.{name}")
    return tuple(sorted((rule() for rule in Rule.__subclasses__()), key=lambda rule: rule.code))


def find(code_or_name: str) -> Rule | None:
    """The rule with this code or name, whatever the case."""
    wanted = code_or_name.strip().lower()
    return next((r for r in catalogue() if wanted in (r.code.lower(), r.name)), None)
