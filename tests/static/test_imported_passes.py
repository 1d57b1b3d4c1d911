"""Whether what a file imports differentiates."""

from __future__ import annotations

import pytest

from gradledger.static.imported_passes import imports_passes
from gradledger.static.parsed import parse

FILES = {
    (0, "engine"): ("engine.py", "def train(loss):\n    loss.backward()\n"),
    (0, "notes"): ("notes.py", '"""How to call loss.backward()."""\n# loss.backward()\n'),
    (0, "ops"): ("ops.py", "class F:\n    @staticmethod\n    def backward(ctx, g):\n        return g\n"),
    (0, "lib"): ("lib/__init__.py", "from .models import Net\nfrom .stepper import (\n    Stepper,\n)\n"),
    (1, "stepper"): (
        "lib/stepper.py",
        "class Stepper:\n    def __call__(self, loss):\n        loss.backward()\n",
    ),
    (1, "models"): ("lib/models.py", "class Net: ...\n"),
}


def find(name: str, importer: str, level: int) -> tuple[str, str] | None:
    return FILES.get((level, name))


@pytest.mark.parametrize(
    "text",
    ["import engine", "from engine import train", "from lib import Stepper", "from lib import Net, Stepper"],
)
def test_a_pass_in_what_is_imported(text: str) -> None:
    assert imports_passes(parse(text + "\n", "train.py"), find)


@pytest.mark.parametrize("text", ["import notes", "from ops import F", "from lib import Net", "import torch"])
def test_no_pass_in_what_is_imported(text: str) -> None:
    assert not imports_passes(parse(text + "\n", "train.py"), find)


def test_without_a_project_there_is_nothing_to_look_at() -> None:
    assert not imports_passes(parse("import engine\n", "train.py"), None)
