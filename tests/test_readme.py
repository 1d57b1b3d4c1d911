"""What the README says is what the tool does; tests/docs runs its scripts and compares what is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gradledger
from gradledger.audit.config import read_table
from gradledger.rules.catalogue import catalogue
from tests.forked import audit

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHAPING = ("COLUMNS", "FORCE_COLOR", "GRADLEDGER_ASCII", "NO_COLOR", "PYTHONIOENCODING", "RANK")
"""What would give the report another shape than the one a reader gets in a pipe."""


def block(mark: str) -> str:
    """The text of the code block after the comment `<!-- mark -->`."""
    found = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    assert found, f"the README has no block marked {mark!r}"
    return found[1]


def fenced(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def inline() -> list[str]:
    return re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", README, flags=re.DOTALL))


def gradledger_command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own, both streams in one text as on a terminal."""
    environ = {name: value for name, value in os.environ.items() if name not in SHAPING}
    return subprocess.run(
        [sys.executable, "-m", "gradledger", *words],
        cwd=cwd,
        env=environ | {"PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def help_of(command: str, folder: Path) -> str:
    done = gradledger_command(command, "--help", cwd=folder)
    assert done.returncode == 0, f"there is no command {command!r}: {done.stdout}"
    return done.stdout


def test_the_json_contract_names_the_keys_that_are_written(tmp_path: Path) -> None:
    shown = next(text for text in fenced("text") if '"schema"' in text)
    (tmp_path / "train.py").write_text(block("file: train.py"), encoding="utf-8")
    written = audit(tmp_path / "train.py").answer
    keys = {*written, *written["tool"], *written["findings"][0], *written["findings"][0]["related"][0]}
    keys |= set(written["checked"])
    values = {"error", "warning", "performance", "certain", "possible", "runtime"}
    assert set(re.findall(r'"(\w+)"', shown)) - values == keys


def test_every_option_exists(tmp_path: Path) -> None:
    texts = [*"\n".join(fenced("console")).splitlines(), *inline()]
    calls = [re.search(r"(?:^|[ $])gradledger (?P<command>[a-z]+)(?P<rest>.*)", text) for text in texts]
    named = {
        (call["command"], option)
        for call in calls
        if call
        for option in re.findall(r"--[a-z-]+", call["rest"])
    }
    named |= {("run", text.split()[0]) for text in inline() if text.startswith("--")}
    commands = {call["command"] for call in calls if call}
    assert {"run", "rules", "explain"} <= commands
    assert ("run", "--fail-fast") in named
    helps = {command: help_of(command, tmp_path) for command in commands}
    missing = [(c, o) for c, o in named if not re.search(rf"(?<![\w-]){o}(?![\w-])", helps[c])]
    assert missing == []


def test_the_settings_shown_are_understood(tmp_path: Path) -> None:
    (text,) = fenced("toml")
    config = read_table(tmp_path / "pyproject.toml", tomllib.loads(text)["tool"]["gradledger"])
    assert config.select
    assert config.ignore
    assert config.per_file_ignores
    assert config.baseline


def test_every_rule_is_in_the_table() -> None:
    table = [line for line in README.splitlines() if line.startswith("| GL")]
    named = {name for line in table for name in line.split("|")[3].replace(",", " ").split()}
    assert named == {rule.name for rule in catalogue()}
    ends = {code for line in table for code in re.findall(r"GL\d{3}", line)}
    assert ends <= {rule.code for rule in catalogue()}


def test_every_public_name_exists() -> None:
    named = set(re.findall(r"(?<!tool\.)\bgradledger\.([a-zA-Z]\w*)", README))
    assert "watch" in named
    assert named <= set(gradledger.__all__)


@pytest.mark.parametrize(
    "page",
    [
        *("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"),
        *("docs/auditing.md", "docs/how-rules-decide.md", "docs/tracing.md"),
    ],
)
def test_every_link_leads_somewhere(page: str) -> None:
    source = ROOT / page
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", source.read_text(encoding="utf-8"))
    assert [link for link in links if not (source.parent / link).exists()] == []


def test_the_repair_of_the_script_is_clean(tmp_path):
    (tmp_path / "train.py").write_text(block("file: train.py"), encoding="utf-8")
    assert gradledger_command("check", "--no-cache", "--fix", "train.py", cwd=tmp_path).returncode == 0
    assert "optimizer.zero_grad()" in (tmp_path / "train.py").read_text(encoding="utf-8")
