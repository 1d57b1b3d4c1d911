from __future__ import annotations

import zipfile
from pathlib import Path

from gradledger.ledger.modules import modules_in


def test_modules_of_several_folders_are_found_sorted_and_not_run(tmp_path: Path) -> None:
    for folder, names in (("one", ("b", "__init__")), ("two", ("a", "b"))):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f"{name}.py").write_text("raise SystemExit")
    (tmp_path / "one" / "notes.txt").write_text("no module")
    assert modules_in([str(tmp_path / "one"), str(tmp_path / "two")]) == ["a", "b"]


def test_a_package_in_a_zip_file(tmp_path: Path) -> None:
    path = tmp_path / "packed.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for name in ("__init__", "b", "a"):
            packed.writestr(f"package/{name}.py", "")
    assert modules_in([str(path / "package")]) == ["a", "b"]


def test_no_folder_has_no_modules(tmp_path: Path) -> None:
    assert modules_in([str(tmp_path / "missing")]) == []
