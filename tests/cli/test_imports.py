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


SLOW = {"torch", "dataclasses", "inspect", "pathlib", "urllib", "hashlib", "tokenize", "pkgutil"}
"""What takes long to load and is not needed to check a file."""

TRAINS = """
import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.randn(8, 4, 2):
    loss = model(batch).mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("options", ["", " --no-cache"], ids=["with the cache", "without"])
def test_checking_a_file_that_trains_loads_nothing_slow(python, tmp_path, options: str) -> None:
    (tmp_path / "train.py").write_text(TRAINS)
    modules = loaded(python, command(f"check train.py{options}"))
    assert "gradledger.repair.gl101_stale_gradient" in modules  # it was found, and repaired
    assert not SLOW & modules


@pytest.mark.parametrize("name", sorted(SLOW - {"torch"}))
def test_a_slow_module_would_be_noticed(python, tmp_path, name: str) -> None:
    (tmp_path / "train.py").write_text(TRAINS)
    planted = [
        "import gradledger.checking.program as program",
        "check = program.check_program",
        f"program.check_program = lambda *given: __import__({name!r}) and check(*given)",
    ]
    assert name in loaded(python, *planted, command("check train.py --no-cache"))


@pytest.mark.parametrize("line", ["check --help", "check nothing.py"])
def test_what_ends_at_once_loads_nothing_slow(python, line: str) -> None:
    assert not SLOW & loaded(python, command(line))


def test_unknown_names_are_attribute_errors(python) -> None:
    done = python("-c", "import gradledger; gradledger.nothing")
    assert "AttributeError: module 'gradledger' has no attribute 'nothing'" in done.stderr
