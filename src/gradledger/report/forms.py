"""All output forms, found by looking into this folder: a new form is one new file `<name>_form.py`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import cast

import gradledger.report
from gradledger.audit.answer import Answer
from gradledger.ledger.modules import modules_in
from gradledger.report.style import StreamFacts

Renderer = Callable[[Answer, StreamFacts], str]

_ENDING = "_form"


def form_names() -> tuple[str, ...]:
    """The names of the forms, without importing any of them."""
    names = modules_in(gradledger.report.__path__)
    return tuple(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING))


def renderer(name: str) -> Renderer:
    """The form with this name."""
    if name not in form_names():
        raise ValueError(f'no output form "{name}" (there are: {", ".join(form_names())})')
    module = importlib.import_module(f"gradledger.report.{name}{_ENDING}")
    return cast(Renderer, module.render)
