"""What is imported, because starting must be quick and torch may be missing."""

from __future__ import annotations

import pytest


def loaded(python, *code: str) -> set[str]:
    """The modules that are loaded after the code has run in a new process."""
    script = "\n".join([*code, "import sys", "print('loaded:', *sys.modules, file=sys.__stdout__)"])
    done = python("-c", script)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("loaded:")[2].split())


def command(line: str) -> str:
    return f"from gradledger.cli.main import main\ntry: main({line.split()!r})\nexcept SystemExit: pass"


@pytest.mark.parametrize(
    "line", ["--help", "--version", "check --help", "check .", "run --help", "rules", "explain all"]
)
def test_commands_need_no_torch(python, line: str) -> None:
    assert "torch" not in loaded(python, command(line))


def test_the_package_needs_no_torch_and_nearly_nothing_else(python) -> None:
    modules = loaded(
        python, "import gradledger", "dir(gradledger)", "gradledger.Finding", "gradledger.AuditError"
    )
    assert "torch" not in modules
    assert "gradledger.rules.finding" in modules
    assert {name for name in loaded(python, "import gradledger") if name.startswith("gradledger")} == {
        "gradledger",
        "gradledger._version",
    }


def test_torch_would_be_noticed(python) -> None:
    assert "torch" in loaded(python, "import gradledger", "import torch")


def test_a_planted_torch_would_be_noticed_in_a_command(python) -> None:
    planted = [
        "import gradledger.cli.explain as explain",
        "explain.run = lambda args: __import__('torch') and 0",
    ]
    assert "torch" in loaded(python, *planted, command("explain GL105"))


def test_a_command_pays_only_for_itself(python) -> None:
    modules = loaded(python, command("check --help"))
    ours = {name for name in modules if name.startswith("gradledger.")}
    assert not any(
        name.startswith(("gradledger.rules", "gradledger.report", "gradledger.audit")) for name in ours
    )
    assert "gradledger.cli.run" not in ours


def test_unknown_names_are_attribute_errors(python) -> None:
    done = python("-c", "import gradledger; gradledger.nothing")
    assert "AttributeError: module 'gradledger' has no attribute 'nothing'" in done.stderr
