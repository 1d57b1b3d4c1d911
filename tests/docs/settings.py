"""Settings that a page shows, read by whatever reads them in earnest."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from pre_commit.clientlib import load_config

from gradledger.audit.config import read_table
from gradledger.cli.commands import commands, load

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = set(
    tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
)


def check_settings(kind: str, text: str) -> None:
    """Settings are well formed, and what they say to gradledger is understood."""
    if kind == "toml":
        values: Any = tomllib.loads(text)
        if "tool" in values:
            read_table(Path("pyproject.toml"), values["tool"]["gradledger"])
    elif kind == "json":
        values = json.loads(text)
    else:
        documents = list(yaml.safe_load_all(text))
        for document in documents:
            _check_yaml(document)
        values = documents
    check_started(values)


def _check_yaml(document: Any) -> None:
    if isinstance(document, list) and "repo" in document[0]:
        document = {"repos": document}
    if "repos" in document:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / ".pre-commit-config.yaml"
            path.write_text(yaml.safe_dump(document), encoding="utf-8")
            config = load_config(path)
        known = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
        assert {hook["id"] for repo in config["repos"] for hook in repo["hooks"]} <= known
        return
    steps = document if isinstance(document, list) else _steps(document)
    for step in steps:
        assert ("run" in step) != ("uses" in step), step
        if "gradledger@" in step.get("uses", ""):
            inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
            assert set(step.get("with", ())) <= set(inputs)


def _steps(document: dict[Any, Any]) -> list[dict[str, Any]]:
    if "jobs" not in document:
        assert {"apiVersion", "kind", "metadata", "spec"} <= set(document)
        return []
    # YAML takes the word `on` for a truth; GitHub does not.
    assert {True, "jobs"} <= set(document)
    assert all("runs-on" in job for job in document["jobs"].values())
    return [step for job in document["jobs"].values() for step in job["steps"]]


def check_started(values: Any) -> None:
    """Where settings start gradledger, they start a command that there is, with options that it has."""
    if isinstance(values, list):
        for value in values:
            check_started(value)
    if not isinstance(values, dict):
        return
    for key, value in values.items():
        check_started(value)
        if str(key).rpartition(".")[2] in ("command", "entry", "run"):
            words = value.split() if isinstance(value, str) else list(value)
            words += values.get("args", []) + values.get("glspc.server.commandArguments", [])
            if "gradledger" in words:
                _check_call(words[words.index("gradledger") + 1 :])


def _check_call(words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    load(commands()[words[0]]).add_arguments(parser)
    options = [word.partition("=")[0] for word in words[1:] if word.startswith("--")]
    assert set(options) <= set(parser._option_string_actions), words
