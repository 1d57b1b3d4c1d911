"""The right programs are silent because they are right: without their clearing lines most are reported."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from tests.static.project import Project

LEAST_REPORTED = 234
"""So many of the 307 programs are reported once nothing clears; the number may only grow."""

_CLEARING = re.compile(r"^( *)(?:[\w.]+\.)?(?:zero_grad|reset_grad)\([^()]*\)$", re.MULTILINE)


def spoilt() -> dict[str, str]:
    """The right programs of this folder with `pass` in place of each line that clears."""
    found: dict[str, str] = {}
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        texts = getattr(importlib.import_module(f"tests.static.right.{file.stem}"), "PLAIN", {})
        found |= {f"{file.stem}: {name}": _CLEARING.sub(r"\1pass", text) for name, text in texts.items()}
        assert file.stem == Path(__file__).stem or len(texts) >= 3
    return {name: text for name, text in found.items() if "pass\n" in text}


def test_most_right_programs_are_reported_without_their_clearing() -> None:
    silent = [
        name
        for name, text in spoilt().items()
        if not {"GL101", "GL401"} & {finding.code for finding in Project.of(text).judged().findings}
    ]
    assert len(spoilt()) - len(silent) >= LEAST_REPORTED, silent
