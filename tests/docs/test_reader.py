"""A page that says something wrong fails: what the reader does is really done, and compared."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.docs.reader import Reader
from tests.docs.walkthrough import blocks

WRONG = {
    "a program that raises": "```python\nraise ValueError('made up')\n```\n",
    "a program that asserts what is not so": "```python\nassert 1 + 1 == 3\n```\n",
    "a program that gives up": "```python\nimport sys\n\nsys.exit(1)\n```\n",
    "a program that exits with words": "```python\nraise SystemExit('made up')\n```\n",
    "a program that is none": "```python\nthis is no program\n```\n",
    "a hidden program that raises": "<!-- hidden: python\nraise ValueError('made up')\n-->\n",
    "a program that goes on and raises": "```python\nx = 1\n```\n"
    "<!-- continues -->\n```python\nassert x == 2\n```\n",
    "an import of what is not there": "```python\nfrom gradledger import Ledgers\n```\n",
    "a test that fails": "<!-- tests -->\n```python\ndef test_wrong():\n    assert False\n```\n",
    "tests without a test": "<!-- tests -->\n```python\nx = 1\n```\n",
    "a command that prints something else": "```console\n$ gradledger --version\nmade up\n```\n",
    "a command that fails": "```console\n$ gradledger explain GL999\n```\n",
    "a command that should have failed": "<!-- exit: 1 -->\n```console\n$ gradledger --version\n```\n",
    "a command that there is not": "```console\n$ gradledger made-up\n```\n",
    "a shell's command that fails": "```console\n$ true | false\n```\n",
    "a target that make does not know": "```console\n$ make made-up\n```\n",
    "an extra that there is not": "```console\n$ pip install 'gradledger[made-up]'\n```\n",
    "a part that was not printed": "<!-- shows: gradledger --version -->\n```text\nmade up\n```\n",
    "a line of no file": "<!-- file: a.py -->\n```python\nx = 1\n```\n"
    "<!-- edit: a.py -->\n```python\ny = 1\n```\n",
    "a setting that is not known": '```toml\n[tool.gradledger]\nmade-up = "x"\n```\n',
    "a hook that there is not": "```yaml\nrepos:\n  - repo: x\n    rev: y\n    hooks: [{id: made-up}]\n```\n",
    "a folder that there is not": "<!-- tree -->\n```text\nsrc/made-up/  what\n```\n",
    "a script of the shell that is none": "<!-- not run: needs a cluster -->\n```bash\nif true; then\n```\n",
}


def read(page: str, folder: Path) -> None:
    reader = Reader(folder)
    for block in blocks(page):
        for step in block.steps():
            reader.do(step)


@pytest.mark.parametrize("page", WRONG.values(), ids=WRONG)
def test_what_is_wrong_on_a_page_is_noticed(page: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, ImportError, SyntaxError, ValueError, subprocess.CalledProcessError)):
        read(page, tmp_path)


def test_what_is_right_is_not(tmp_path: Path) -> None:
    read(
        "<!-- file: a.py -->\n```python\nx = 1\n```\n```python\ny = 2\nassert y == 2\n```\n"
        "```console\n$ python -c 'import a; print(a.x)'\n1\n"
        "$ gradledger rules\n…\nGL101  stale-gradient  …\n…\n```\n",
        tmp_path,
    )
