"""The public interface changes only on purpose."""

from __future__ import annotations

import difflib
import inspect
import re
import typing

import pytest

import gradledger
from tests.packaging import public_api
from tests.packaging.public_api import SNAPSHOT

ACCEPT = """\
The public interface is not what {snapshot} says.
If the change is meant: python -m tests.packaging.public_api, and a line in CHANGELOG.md for whoever uses it.

{diff}"""


def compared(known: str, found: str) -> None:
    if found != known:
        lines = [text.splitlines(keepends=True) for text in (known, found)]
        diff = "".join(difflib.unified_diff(*lines, "known", "found", n=0))
        pytest.fail(ACCEPT.format(snapshot=SNAPSHOT.name, diff=diff), pytrace=False)


def test_the_interface_is_the_one_that_is_known() -> None:
    compared(SNAPSHOT.read_text(encoding="utf-8"), public_api.public_api())


def test_a_change_is_shown_and_how_to_accept_it() -> None:
    known = SNAPSHOT.read_text(encoding="utf-8")
    changed = known.replace("fail_fast: bool=False", "fail_fast: bool=True", 1)
    assert changed != known
    with pytest.raises(pytest.fail.Exception) as told:
        compared(known, changed)
    said = str(told.value)
    assert re.search(r"^-gradledger\.watch\(.*fail_fast: bool=False", said, re.MULTILINE)
    assert re.search(r"^\+gradledger\.watch\(.*fail_fast: bool=True", said, re.MULTILINE)
    assert "python -m tests.packaging.public_api" in said


@pytest.mark.parametrize("name", [name for name in gradledger.__all__ if not name.startswith("__")])
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    thing = getattr(gradledger, name)
    assert inspect.getdoc(thing)
    assert thing.__name__ == name


def test_what_is_imported_for_types_is_what_is_public() -> None:
    """Type checkers read the imports, the program the table of homes: both name the same."""
    lazily = set(gradledger._HOMES) - {"load_ipython_extension", "unload_ipython_extension"}
    assert lazily | {"__version__"} == set(gradledger.__all__)
    assert set(gradledger.__all__) <= set(dir(gradledger))
    assert typing.TYPE_CHECKING is gradledger.TYPE_CHECKING is False
