"""The user's line behind a call, looked up by addresses."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

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


CALLS = "def train():\n    return caller()\n\n\nfound = train()\n"


@pytest.mark.parametrize("folder", ["/home/me", "/home/me/torch"])
def test_a_folder_that_bears_torchs_name_is_the_users(folder: str) -> None:
    names = {"caller": caller}
    exec(compile(CALLS, f"{folder}/train.py", "exec"), names)
    assert str(names["found"]) == f"{folder}/train.py:2"


def test_torchs_own_lines_are_passed_over() -> None:
    inside = {"caller": caller}
    exec(compile(CALLS, str(Path(torch.__file__).parent / "optim" / "mine.py"), "exec"), inside)
    names = {"train": inside["train"]}
    exec(compile("found = train()\n", "/home/me/train.py", "exec"), names)
    assert str(names["found"]) == "/home/me/train.py:1"
