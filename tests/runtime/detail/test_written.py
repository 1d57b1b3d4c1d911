"""Where a loss written by hand got its value, as far as the text leaves no doubt."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.ledger.site import Site
from gradledger.runtime.detail.written import written

PROGRAMS = {
    "plain": ("loss = f()\nzero()\nloss.backward()", 1),
    "the last of several": ("loss = f()\nloss = loss / 4\nloss += penalty\nloss.backward()", 3),
    "over several lines": ("loss = f(\n    1,\n)\nloss.backward()", 1),
    "with others": ("loss, kept = f()\nloss.backward()", 1),
    "annotated": ("loss: Tensor = f()\nloss.backward()", 1),
    "under autocast": ("with autocast():\n    out = f()\n    loss = g(out)\nloss.backward()", 3),
    "before a guard": ("loss = f()\nif ok:\n    loss.backward()", 1),
    "beside other statements": ("loss = f()\nzero(); loss.backward(); step()", 1),
    "scaled": ("loss = f()\nscaler.scale(loss).backward()", 1),
    "given to a library": ("loss = f()\naccelerator.backward(loss)", 1),
    "in a method": ("class T:\n    def step(self):\n        loss = f()\n        loss.backward()", 3),
    "in a loop": ("loss = 0\nfor x in xs:\n    loss = f(x)\n    loss.backward()", 3),
    "in one of two branches": ("if a:\n    loss = f()\nelse:\n    loss = g()\nloss.backward()", None),
    "summed in a loop": ("loss = 0\nfor x in xs:\n    loss += f(x)\nloss.backward()", None),
    "before the loop": ("loss = f()\nfor x in xs:\n    loss.backward()", None),
    "an argument": ("loss = f()\ndef learn(loss):\n    loss.backward()", None),
    "nameless": ("loss = f()\nlost(x).mean().backward()", None),
    "an attribute": ("loss = f()\nself.loss.backward()", None),
    "no pass at all": ("loss = f()\nrun()", None),
    "no Python": ("loss = = f()\nloss.backward()", None),
}


@pytest.mark.parametrize(("text", "line"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_the_statement_before_the_pass(text: str, line: int | None, tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(text + "\n")
    at = next(n for n, code in enumerate(text.splitlines(), 1) if "backward" in code or code == "run()")
    found = written(Site(str(program), at, function="f"))
    assert (found and found.line) == line
    assert found is None or (found.path, found.function) == (str(program), "f")
