"""The user's line behind a call, looked up by addresses."""

from __future__ import annotations

from pathlib import Path

from gradledger.engine.lines import caller


def test_same_line_is_the_same_object() -> None:
    one, other = caller(), caller()
    below = caller()
    assert one is other
    assert (one.path, one.function) == (str(Path(__file__).resolve()), "test_same_line_is_the_same_object")
    assert below.line == one.line + 1


def test_new_code_at_the_address_of_old_code_has_its_own_line() -> None:
    for number in range(200):
        names = {"caller": caller}
        exec(compile("\n" * number + "site = caller()", f"<cell {number}>", "exec"), names)
        assert str(names["site"]) == f"<cell {number}>:{number + 1}"
