from __future__ import annotations

import pytest

from gradledger.rules.catalogue import catalogue


@pytest.mark.parametrize("word", ["GL105", "gl105", "repeated-step", "Repeated-Step"])
def test_a_rule_by_code_or_name(command, word: str) -> None:
    done = command("explain", word)
    assert done.returncode == 0
    assert done.stdout.startswith("GL105 repeated-step  error\n")
    assert done.stderr == ""


def test_it_ends_with_the_lessons_about_the_rule(command) -> None:
    last = command("explain", "GL103").stdout.splitlines()[-1]
    assert last == "To see it happen:  gradledger learn read 7  (Once per window)"


def test_all(command) -> None:
    done = command("explain", "all")
    assert done.returncode == 0
    assert all(f"{rule.code} {rule.name}  " in done.stdout for rule in catalogue())


@pytest.mark.parametrize(
    ("word", "hint"), [("repeted-step", "repeated-step"), ("GL1O5", "GL105"), ("x\x1b[2J\ny", "")]
)
def test_an_unknown_rule_is_one_line_with_the_nearest(command, word: str, hint: str) -> None:
    done = command("explain", word)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "unknown rule" in done.stderr
    assert hint in done.stderr
    assert "\x1b" not in done.stderr


def test_a_terminal_that_knows_ascii_only(command) -> None:
    for environ in ({"PYTHONIOENCODING": "ascii"}, {"GRADLEDGER_ASCII": "1"}):
        done = command("explain", "GL105", **environ)
        assert done.returncode == 0
        assert done.stdout.isascii()
        assert "<-- GL105" in done.stdout


def test_colours_only_when_forced_or_on_a_terminal(command) -> None:
    assert "\x1b" not in command("explain", "GL105").stdout
    assert "\x1b[" in command("explain", "GL105", FORCE_COLOR="1").stdout
