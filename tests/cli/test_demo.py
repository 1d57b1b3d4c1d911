"""The demonstration fits 80 columns and leads on to the lesson."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from gradledger.cli.demo import command, comparison, further

LOOP = {"updates": 84, "loss": 0.163, "weights": [3.0, 4.0]}


def test_the_comparison_fits_80_columns() -> None:
    wrong = {"schedule advanced per micro-batch": {"updates": 168, "loss": 1e9, "weights": [3.0, 5.0]}}
    right = {"schedule advanced per micro-batch": LOOP}
    text = comparison(wrong, right)
    assert "1.0e+09 (0.163)" in text
    assert "20%" in text
    assert max(map(len, text.splitlines())) <= 80


def test_it_leads_on_by_commands_that_can_be_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    beside = Path(sys.executable).with_name("gradledger")
    monkeypatch.setattr(shutil, "which", lambda _: str(beside))
    if beside.exists():
        assert command() == "gradledger"
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.chdir(Path(sys.executable).parent)
    assert command() in ("gradledger", f"{Path(sys.executable).name} -m gradledger")
    monkeypatch.chdir(tmp_path)
    assert Path(command().split()[0]).exists()
    assert "explain GL103" in further()
    assert "learn read 7" in further()
