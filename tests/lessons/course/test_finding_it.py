"""The script that lesson 12 shows is the one its exhibits check and run."""

from __future__ import annotations

from gradledger.lessons.catalogue import lesson
from gradledger.lessons.exhibit import experiment
from gradledger.lessons.lesson import Prose


def test_the_script_shown_is_the_script_checked() -> None:
    found = lesson("l12")
    text = "\n".join(part.filled({}) for part in found.parts if isinstance(part, Prose) and not part.fields)
    assert f"```python\n{experiment(found.folder)._SCRIPT}```" in text
