"""Settings, baselines, caches, notebooks and progress that are damaged: one line and 2, or left aside."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gradledger.lessons.progress.cards import due, known, next_due, wait_text
from gradledger.lessons.progress.state import Progress, UnreadableError, as_json, from_json
from gradledger.lessons.progress.store import Store
from tests.hostile import damage
from tests.hostile.budget import NIGHTLY, chances, examples
from tests.hostile.commands import civil
from tests.report.recorded import PROGRAM

SETTINGS = """\
[tool.gradledger]
select = ["GL1", "GL2"]
ignore = ["graph-kept-alive"]
exclude = ["third_party", "**/*.gen.py"]
baseline = "known.json"

[tool.gradledger.per-file-ignores]
"experiments/**" = ["GL101"]
"""
CELLS = ["import torch\n", PROGRAM, "%matplotlib inline\n!ls\n", "x = 1"]
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"kernelspec": {"language": "python"}, "language_info": {"name": "python"}},
    "cells": [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": text.splitlines(keepends=True)}
        for text in CELLS
    ]
    + [{"cell_type": "markdown", "metadata": {}, "source": "# Title"}],
}
LEARNED = {
    "version": 1,
    "last": "l02",
    "places": {"l01": {"part": 2, "parts": 9, "done": False}},
    "quizzes": {"l01": {"right": 2, "of": 3}},
    "predictions": {},
    "myths": {"m01": {"right": 1, "of": 1}},
    "repairs": {"l01": {"path": "/tmp/x.py", "done": False}},
    "cards": {"l01.what": {"box": 2, "due": 1e9}, "l07.tail": {"box": 1, "due": 5.0}},
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    assert civil("check", "--write-baseline", "known.json", ".").code == 0
    return tmp_path


def test_damaged_settings_are_refused_in_one_line(project: Path) -> None:
    ends: Counter[int] = Counter()
    for chance in chances(150):
        text = damage.data(SETTINGS.encode(), chance)
        if chance.random() < 0.3:
            odd = json.dumps(chance.choice([*damage.NESTS[1:], *damage.TEXTS, 1.5, 7]))
            text = SETTINGS.replace('["GL1", "GL2"]', odd).encode("utf-8", "replace")
        (project / "pyproject.toml").write_bytes(text)
        ends[civil("check", "--no-cache", "train.py").code] += 1
    assert ends[2] > 20, ends
    assert ends[0] + ends[1], ends


@pytest.mark.parametrize("depth", [50, 1000, 20_000])
def test_settings_may_not_be_nested_without_end(depth: int, project: Path) -> None:
    (project / "pyproject.toml").write_text(f"[tool.gradledger]\nselect = {'[' * depth}{']' * depth}\n")
    assert civil("check", "train.py").code == 2


def test_damaged_baselines_are_refused_in_one_line(project: Path) -> None:
    whole = (project / "known.json").read_bytes()
    ends: Counter[int] = Counter()
    for chance in chances(100):
        if chance.random() < 0.4:
            raw = damage.data(whole, chance)
        else:
            raw = json.dumps(damage.value(json.loads(whole), chance)).encode()
        (project / "known.json").write_bytes(raw)
        ends[civil("check", "--no-cache", "train.py").code] += 1
    assert ends[2] > 20, ends


def test_a_damaged_cache_changes_no_answer(project: Path) -> None:
    (project / "pyproject.toml").write_text("")
    first = civil("check", "train.py").out
    (kept,) = (project / ".gradledger_cache").glob("*.json")
    whole = kept.read_bytes()
    for chance in chances(60):
        if chance.random() < 0.5:
            kept.write_bytes(damage.data(whole, chance))
        else:
            told = json.loads(whole)
            told["asked"] = damage.value(told["asked"] or [["x", "y", 0, None, None]], chance)
            kept.write_text(json.dumps(told))
        assert civil("check", "train.py").out.splitlines()[-1] == first.splitlines()[-1]
    for odd in (b"", b"[" * 100_000, b"\xff"):
        kept.write_bytes(odd)
        assert civil("check", "train.py").out == first


def test_damaged_notebooks_are_checked_or_refused(project: Path) -> None:
    (project / "pyproject.toml").write_text("")
    whole = json.dumps(NOTEBOOK, indent=1).encode()
    ends: Counter[int] = Counter()
    for chance in chances(150):
        raw = damage.data(whole, chance)
        if chance.random() < 0.7:
            raw = json.dumps(damage.value(NOTEBOOK, chance), indent=chance.choice([None, 1])).encode()
        (project / "x.ipynb").write_bytes(raw)
        form = chance.choice(["text", "json", "sarif", "github"])
        ends[civil("check", "--no-cache", "--format", form, "x.ipynb").code] += 1
    assert ends[1] > 10, ends
    assert ends[2] > 10, ends


KEYS = st.sampled_from(["cells", "source", "cell_type", "metadata", "x"])
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(
    max_examples=examples(60),
    derandomize=not NIGHTLY,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=list(Phase) if NIGHTLY else [Phase.generate],
)
@given(TREES)
def test_any_tree_in_place_of_cells_does_no_harm(tmp_path_factory, tree: object) -> None:
    folder = tmp_path_factory.getbasetemp()
    path = folder / "any.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "cells": tree}))
    civil("check", "--no-cache", str(path))


def test_damaged_progress_is_put_aside_with_a_note(tmp_path: Path) -> None:
    ends: Counter[str] = Counter()
    for number, chance in enumerate(chances(150)):
        notes: list[str] = []
        store = Store(tmp_path / str(number), notes.append)
        store.path.parent.mkdir()
        raw = json.dumps(damage.value(LEARNED, chance)).encode()
        store.path.write_bytes(damage.data(raw, chance) if chance.random() < 0.2 else raw)
        progress = store.read()
        for name in due(progress.cards, 1e9):
            progress = known(progress, name, 1e9)
        wait_text((next_due(progress.cards) or 0.0) - 1e9)
        assert from_json(json.loads(json.dumps(as_json(progress)))) == progress
        ends["noted" if notes else "read"] += 1
    assert min(ends["noted"], ends["read"]) > 10, ends


@pytest.mark.parametrize(("box", "at"), [(0, 1), (99, 1), (1, float("nan")), (1, 1e99), (1, -1)])
def test_impossible_cards_are_unreadable(box: int, at: float) -> None:
    with pytest.raises(UnreadableError, match=r"cards\.l01\.what"):
        from_json(LEARNED | {"cards": {"l01.what": {"box": box, "due": at}}})
    assert isinstance(from_json(LEARNED), Progress)
