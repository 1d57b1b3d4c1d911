"""What holds for the project as a whole: its imports, its version, its files."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import gradledger

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "gradledger"
SOURCES = sorted(PACKAGE.rglob("*.py"))
PACKAGES = [path for path in SOURCES if path.name == "__init__.py"]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

TORCH_FREE = (
    "",
    "audit",
    "checking",
    "cli",
    "integrations",
    "ledger",
    "lessons",
    "lessons/modes",
    "lessons/progress",
    "lessons/reading",
    "report",
    "rules",
    "serving",
)
"""The packages that must load where torch is not installed."""


INSIDE_TRAINING = {
    *("accelerate", "ignite", "lightning", "transformers", "trainer_window"),
    *("attached", "counting", "distributed_checkpoint", "following"),
}
"""The integrations that are of use only where torch is loaded already."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def output_of(code: str) -> str:
    """What a fresh interpreter prints when it runs this code, which must succeed."""
    call = [sys.executable, "-c", code]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def modules_after(code: str) -> set[str]:
    """The top-level modules loaded once a fresh interpreter has run this code."""
    report = "import sys\nprint('loaded:', *{name.partition('.')[0] for name in sys.modules})"
    return set(output_of(f"{code}\n{report}").rpartition("loaded:")[2].split())


def command(*arguments: str) -> str:
    """Code that runs a command and survives its exit if that was a good one."""
    return (
        "from gradledger.cli.main import main\n"
        f"try: status = main({list(arguments)!r})\n"
        "except SystemExit as stop: status = stop.code\n"
        "assert not status, status"
    )


def modules_of(package: str) -> list[str]:
    folder = PACKAGE / package
    files = folder.glob("*.py") if package else folder.glob("__init__.py")
    names = [file.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", ".") for file in files]
    return [name.removesuffix(".__init__") for name in names]


def test_import_contracts_hold() -> None:
    output_of("import sys, importlinter.cli as cli\nsys.exit(cli.lint_imports(no_cache=True))")


@pytest.mark.parametrize("package", TORCH_FREE, ids=lambda package: package or "gradledger")
def test_package_imports_no_torch(package: str) -> None:
    modules = [name for name in modules_of(package) if name.rpartition(".")[2] not in INSIDE_TRAINING]
    code = "\n".join(f"import {module}" for module in modules)
    loaded = modules_after(code)
    assert "gradledger" in loaded
    assert "torch" not in loaded


@pytest.mark.parametrize("line", ["--help", "check --help", "run --help", "rules", "explain GL105"])
def test_command_imports_no_torch(line: str) -> None:
    assert "torch" not in modules_after(command(*line.split()))


def test_torch_would_be_noticed() -> None:
    assert "torch" in modules_after("import gradledger\nimport torch.nn")


def test_version_is_the_one_that_is_built() -> None:
    assert "version" in PYPROJECT["project"]["dynamic"]
    built_from = ROOT / PYPROJECT["tool"]["hatch"]["version"]["path"]
    assert gradledger.__version__ == runpy.run_path(str(built_from))["__version__"]


def test_changelog_has_an_entry_for_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{gradledger.__version__}]" in changelog


def test_core_has_no_dependency_but_the_toml_reader() -> None:
    assert [re.match(r"[\w-]+", line)[0] for line in PYPROJECT["project"]["dependencies"]] == ["tomli"]


def test_no_file_is_named_for_nothing() -> None:
    nameless = {"utils", "util", "helpers", "helper", "common", "misc"}
    folders = ("src", "tests", "benchmarks", "docs")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if "corpus" not in path.parts]
    assert [name_of(path) for path in files if path.stem in nameless] == []


def test_sources_are_small() -> None:
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


@pytest.mark.parametrize("path", PACKAGES, ids=name_of)
def test_package_says_in_one_line_what_it_is(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring, "no docstring"
    assert "\n" not in docstring
    assert docstring.endswith(".")
