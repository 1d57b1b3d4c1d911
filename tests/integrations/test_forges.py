"""The GitHub Action, its steps run by bash, and the hooks, run by pre-commit on a scratch repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.checking.programs import CLEAN, STALE

ROOT = Path(__file__).resolve().parents[2]
PACKAGED = ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml", "action.yml", "src")


def run(call: list[str], folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "NO_COLOR": "1"}
    return subprocess.run(
        call,
        cwd=folder,
        env={**kept, **quiet, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def repository(folder: Path) -> str:
    """Make the folder a repository; gives its one commit."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "all"]):
        done = run(["git", *words], folder)
        assert done.returncode == 0, done.stderr
    return run(["git", "rev-parse", "HEAD"], folder).stdout.strip()


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This project as a forge would hand it out."""
    folder = tmp_path_factory.mktemp("clone")
    for name in PACKAGED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    return folder


@pytest.fixture(scope="module")
def _index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Building a package needs its builder, from wherever pip gets packages here."""
    folder = tmp_path_factory.mktemp("index")
    got = run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", ".", "hatchling"], folder)
    if got.returncode:
        pytest.skip("pip reaches no index from here")


@pytest.fixture(scope="module")
def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return loaded


def test_the_action_has_the_shape_that_github_asks_for(action: dict[str, Any]) -> None:
    assert {"name", "description", "runs"} <= set(action)
    assert set(action) <= {"name", "author", "description", "inputs", "outputs", "runs", "branding"}
    assert action["runs"]["using"] == "composite"
    assert all(set(each) <= {"description", "required", "default"} for each in action["inputs"].values())
    for step in action["runs"]["steps"]:
        assert {"name", "shell", "run"} <= set(step) <= {"name", "id", "shell", "env", "run"}
        assert "${{" not in step["run"], "an input in the script's text is shell code"
        for value in step.get("env", {}).values():
            name = value.removeprefix("${{ inputs.").removesuffix(" }}")
            assert name in action["inputs"]
    for output in action["outputs"].values():
        _, step_id, _, name = output["value"].removeprefix("${{ ").removesuffix(" }}").split(".")
        (step,) = (each for each in action["runs"]["steps"] if each.get("id") == step_id)
        assert f'echo "{name}=' in step["run"]


def steps(action: dict[str, Any], folder: Path, clone: Path, temp: Path, **given: str) -> list[Any]:
    """Run the action's steps as the runner does: bash, stopping at the first failure."""
    inputs = {name: each["default"] for name, each in action["inputs"].items()} | given
    files = {name: temp / name for name in ("GITHUB_ENV", "GITHUB_OUTPUT")}
    for file in files.values():
        file.write_text("")
    done: list[Any] = []
    for step in action["runs"]["steps"]:
        own = {
            name: inputs[value.removeprefix("${{ inputs.").removesuffix(" }}")]
            for name, value in step.get("env", {}).items()
        }
        set_before = dict(line.split("=", 1) for line in files["GITHUB_ENV"].read_text().splitlines())
        environ = {"RUNNER_TEMP": str(temp), "GITHUB_ACTION_PATH": str(clone), **set_before, **own}
        call = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done.append(run(call, folder, **environ, **{name: str(path) for name, path in files.items()}))
        if done[-1].returncode:
            break
    return done


@pytest.mark.slow
@pytest.mark.usefixtures("_index")
def test_the_action_checks_annotates_and_writes_sarif(
    action: dict[str, Any], clone: Path, tmp_path: Path
) -> None:
    project, temp = tmp_path / "project", tmp_path / "temp"
    project.mkdir()
    temp.mkdir()
    (project / "train.py").write_text(STALE)
    (project / "right.py").write_text(CLEAN)
    done = steps(action, project, clone, temp, python=sys.executable, sarif="found.sarif")
    assert [each.returncode for each in done] == [0, 1], done
    assert "::error file=train.py,line=7" in done[1].stdout
    sarif = json.loads((project / "found.sarif").read_text())
    assert [result["ruleId"] for result in sarif["runs"][0]["results"]] == ["GL101"]
    assert (temp / "GITHUB_OUTPUT").read_text() == "sarif=found.sarif\n"
    # What is installed now serves the other cases.
    check = {**action, "runs": {**action["runs"], "steps": action["runs"]["steps"][1:]}}
    bin_folder = str(temp / "gradledger" / "bin")
    for given, status in (
        ({"paths": "right.py"}, 0),
        ({"paths": "right.py train.py", "options": "--ignore GL101"}, 0),
        ({"paths": "$(touch hacked) ;touch hacked"}, 2),
    ):
        check["runs"]["steps"][0]["env"]["GRADLEDGER_BIN"] = "${{ inputs.bin }}"
        check["inputs"] = {**action["inputs"], "bin": {"default": bin_folder}}
        (got,) = steps(check, project, clone, temp, **given)
        assert got.returncode == status, got
    assert not (project / "hacked").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("_index")
def test_the_hooks_of_pre_commit(clone: Path, tmp_path: Path) -> None:
    revision = repository(clone)
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(STALE)
    (project / "right.py").write_text(CLEAN)
    hooks = [{"repo": str(clone), "rev": revision, "hooks": [{"id": "gradledger"}]}]
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": hooks}))
    repository(project)
    environ = {"PRE_COMMIT_HOME": str(tmp_path / "home")}
    call = [sys.executable, "-m", "pre_commit"]
    found = run([*call, "run", "--all-files"], project, **environ)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "GL101 stale-gradient" in found.stdout
    assert "train.py:7" in found.stdout
    hooks[0]["hooks"] = [{"id": "gradledger-fix"}]
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": hooks}))
    mended = run([*call, "run", "--all-files"], project, **environ)
    assert "files were modified by this hook" in mended.stdout
    assert run([*call, "run", "--all-files"], project, **environ).returncode == 0
    assert "zero_grad()" in (project / "train.py").read_text()
