"""The installed wheel where PyTorch is missing: it checks, explains, and says what it cannot do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gradledger
from tests.packaging.environments import Environment

FORGOTTEN = """\
import torch

model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    loss = model(torch.randn(5, 3)).square().mean()
    loss.backward()
    optimizer.step()
"""
MISSING = "PyTorch is not installed here: pip install 'gradledger[torch]'"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(FORGOTTEN, encoding="utf-8")
    return path


def test_nothing_of_the_development_environment_is_there(without_torch: Environment, tmp_path: Path) -> None:
    code = "import gradledger, sys; print(gradledger.__file__); import importlib.util as u; "
    code += "print(*(name for name in ('torch', 'numpy', 'rich', 'pytest', 'pip') if u.find_spec(name)))"
    where, found = without_torch.run("python", "-c", code, cwd=tmp_path).stdout.split("\n")[:2]
    assert Path(where).is_relative_to(without_torch.packages)
    assert found == ""


def test_it_says_which_version_it_is(without_torch: Environment, tmp_path: Path) -> None:
    said = {without_torch.run("gradledger", "--version", cwd=tmp_path).stdout}
    said |= {without_torch.run("python", "-m", "gradledger", "--version", cwd=tmp_path).stdout}
    code = "from importlib.metadata import version; print('gradledger', version('gradledger'))"
    said |= {without_torch.run("python", "-c", code, cwd=tmp_path).stdout}
    assert said == {f"gradledger {gradledger.__version__}\n"}


def test_rules_are_listed_and_explained(without_torch: Environment, tmp_path: Path) -> None:
    assert "GL502  unsynced-step" in without_torch.run("gradledger", "rules", cwd=tmp_path).stdout
    said = without_torch.run("gradledger", "explain", "GL101", cwd=tmp_path).stdout
    assert "Why it stays silent" in said


def test_a_mistake_is_found_and_repaired(without_torch: Environment, script: Path) -> None:
    said = without_torch.run("gradledger", "check", "train.py", cwd=script.parent, status=1).stdout
    assert "GL101 stale-gradient" in said
    assert "train.py:7" in said
    without_torch.run("gradledger", "check", "--fix", "train.py", cwd=script.parent)
    assert "optimizer.zero_grad()" in script.read_text(encoding="utf-8")


def test_every_form_names_the_version(without_torch: Environment, script: Path) -> None:
    version = gradledger.__version__
    for form in ("json", "sarif"):
        call = ["gradledger", "check", "--format", form, "--output", f"out.{form}", "--exit-zero", "train.py"]
        without_torch.run(*call, cwd=script.parent)
    written = {form: json.loads((script.parent / f"out.{form}").read_text()) for form in ("json", "sarif")}
    assert written["json"]["tool"] == {"name": "gradledger", "version": version}
    assert written["sarif"]["runs"][0]["tool"]["driver"]["semanticVersion"] == version


@pytest.mark.parametrize("words", ["run train.py", "trace train.py", "trace", "trace --compare", "demo"])
def test_what_trains_says_in_one_line_what_is_missing(
    without_torch: Environment, script: Path, words: str
) -> None:
    done = without_torch.run("gradledger", *words.split(), cwd=script.parent, status=2)
    assert (done.stdout, done.stderr) == ("", f"gradledger {words.split()[0]}: {MISSING}\n")


@pytest.mark.parametrize(
    ("words", "extra"), [("learn read 2", "learn"), ("watch run.jsonl", "live"), ("lsp", "lsp")]
)
def test_what_needs_an_extra_names_it(
    without_torch: Environment, tmp_path: Path, words: str, extra: str
) -> None:
    done = without_torch.run("gradledger", *words.split(), cwd=tmp_path, status=2)
    assert done.stderr.count("\n") == 1
    assert f"gradledger[{extra}]" in done.stderr


def test_names_that_need_torch_say_so_and_the_others_work(without_torch: Environment, tmp_path: Path) -> None:
    code = """
import gradledger
for name in gradledger.__all__:
    try:
        getattr(gradledger, name)
    except ImportError as error:
        print(error)
"""
    said = without_torch.run("python", "-c", code, cwd=tmp_path).stdout.splitlines()
    names = ("Accumulator", "Verification", "cached_backward", "watch")
    assert said == [f"gradledger.{name} needs PyTorch: pip install 'gradledger[torch]'" for name in names]
