from __future__ import annotations


def test_the_flags_are_there(command) -> None:
    shown = command("check", "--help").stdout
    for flag in (
        "--fix",
        "--diff",
        "--select",
        "--ignore",
        "--format",
        "--output",
        "--strict",
        "--exit-zero",
    ):
        assert flag in shown
    for form in ("text", "json", "sarif", "github"):
        assert form in shown


def test_it_says_plainly_that_it_is_not_here_yet(command) -> None:
    done = command("check", ".", "--select", "GL1", "--format", "sarif")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "static checker is not part of this version" in done.stderr
