"""All output forms, found by looking into this folder: a new form is one new file `<name>_form.py`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import cast

import gradledger.report
from gradledger.audit.answer import Answer
from gradledger.report.style import StreamFacts

Renderer = Callable[[Answer, StreamFacts], str]

_ENDING = "_form"


def form_names() -> tuple[str, ...]:
    """The names of the forms, without importing any of them."""
    modules = pkgutil.iter_modules(gradledger.report.__path__)
    return tuple(sorted(m.name.removesuffix(_ENDING) for m in modules if m.name.endswith(_ENDING)))


def renderer(name: str) -> Renderer:
    """The form with this name."""
    if name not in form_names():
        raise ValueError(f'no output form "{name}" (there are: {", ".join(form_names())})')
    module = importlib.import_module(f"gradledger.report.{name}{_ENDING}")
    return cast(Renderer, module.render)
