"""The notebooks are those of the lessons, and run from their first cell to their last."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from gradledger.lessons.catalogue import lessons

DOCS = Path(__file__).resolve().parents[2] / "docs"
LESSONS = {lesson.id: lesson for lesson in lessons()}
ALL = os.environ.get("GRADLEDGER_NOTEBOOKS") == "all"
EXECUTED = [name for name in LESSONS if ALL or name in ("l01", "l07")]
"""Two each time, all of them by `make nightly`; the tests of the lessons run every exhibit anyway."""


def path_of(name: str) -> Path:
    return DOCS / "notebooks" / f"{name}_{LESSONS[name].slug}.ipynb"


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(DOCS)
    spec = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_derived_files_are_fresh_and_the_same_bytes_each_time(build) -> None:
    wanted = build.pages()
    assert wanted == build.pages()
    assert {path: path.read_bytes() for path in wanted} == {p: text.encode() for p, text in wanted.items()}
    assert set((DOCS / "notebooks").glob("*")) == {path for path in wanted if path.suffix == ".ipynb"}


def test_a_stale_and_an_orphaned_notebook_are_noticed_and_mended(
    build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "docs" / "notebooks"
    monkeypatch.setattr(build, "PAGE", tmp_path / "docs" / "rules.md")
    monkeypatch.setattr(build, "FOLDER", folder)
    monkeypatch.setattr(build, "notebooks", lambda _: {folder / "l01.ipynb": "new\n"})
    folder.mkdir(parents=True)
    (folder / "l99.ipynb").write_text("", encoding="utf-8")
    assert build.main(["--check"]) == 1
    said = capsys.readouterr().err
    assert "docs/notebooks/l01.ipynb" in said
    assert "docs/notebooks/l99.ipynb" in said
    assert build.main([]) == 0
    assert [path.name for path in folder.iterdir()] == ["l01.ipynb"]
    assert build.main(["--check"]) == 0


@pytest.mark.parametrize("name", LESSONS)
def test_notebook_is_valid_and_tells_only_what_its_cells_have_found(name: str) -> None:
    notebook = nbformat.read(path_of(name), as_version=4)
    nbformat.validate(notebook)
    found: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            ast.parse(cell.source)
            told = set(re.findall(r"\{(\w+)\.\w+", cell.source)) if cell.source.startswith("say(") else set()
            assert told <= found, cell.source
            found |= set(re.findall(r'^shown\["(\w+)"\] = ', cell.source, re.MULTILINE))
        else:
            assert "](l" not in cell.source.replace(".ipynb", "")


@pytest.mark.slow
def test_notebooks_run(tmp_path: Path) -> None:
    """One kernel for all, emptied in between: starting one and importing torch takes longer than a lesson."""
    whole = nbformat.v4.new_notebook()
    for name in EXECUTED:
        whole.cells += nbformat.read(path_of(name), as_version=4).cells
        whole.cells.append(nbformat.v4.new_code_cell("%reset -f"))
    NotebookClient(
        whole, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    said = [
        cell.outputs for cell in whole.cells if cell.cell_type == "code" and cell.source.startswith("say(")
    ]
    texts = [output.data["text/markdown"] for outputs in said for output in outputs if "data" in output]
    assert len(texts) == len(said) > 10
    assert not any(re.search(r"\{\w+\.\w+", text) for text in texts)
