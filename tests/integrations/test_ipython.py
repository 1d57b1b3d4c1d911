"""`%load_ext gradledger` in a real shell and in a real kernel."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

BUILD = """\
import torch
from torch import nn
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
WRONG = """\
for _ in range(4):
    loss = model(torch.randn(5, 3)).square().mean()
    loss.backward()
    optimizer.step()
"""
RIGHT = WRONG.replace("    loss.backward()", "    optimizer.zero_grad(); loss.backward()")


class Shell:
    """A shell, and what its cells show."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

    def run(self, cell: str) -> tuple[str, list[dict[str, Any]]]:
        with capture_output() as captured:
            self._shell.run_cell(cell, store_history=True)
        return captured.stdout + captured.stderr, [dict(output.data) for output in captured.outputs]

    def html(self, cell: str) -> str:
        """The text that is left of the HTML output if its markup is taken away."""
        _, outputs = self.run(cell)
        return "\n".join(
            re.sub(r"<[^>]+>", " ", data["text/html"]) for data in outputs if "text/html" in data
        )


@pytest.fixture
def shell() -> Iterator[Shell]:
    InteractiveShell.clear_instance()
    running = InteractiveShell.instance()
    ours = Shell(running)
    ours.run("%load_ext gradledger")
    yield ours
    ours.run("%unload_ext gradledger")
    running.history_manager.end_session()
    InteractiveShell.clear_instance()
    assert not hasattr(torch.Tensor.backward, "__gradledger__")


def test_a_cell_is_audited_with_the_model_of_an_earlier_one(shell: Shell) -> None:
    shell.run(BUILD)
    told = shell.html("%%gradledger\n" + WRONG)
    assert "GL101 stale-gradient" in told
    assert "In[3]:4" in told
    assert "loss.backward()" in told
    assert "audited 4 backward passes, 4 steps, 2 parameters in 1 group: 1 error" in told
    assert "no findings" in shell.html("%%gradledger\n" + RIGHT)
    _, outputs = shell.run("%%gradledger\n" + WRONG)
    assert "GL101 stale-gradient  error" in outputs[0]["text/plain"]


def test_a_cell_keeps_its_value_its_names_and_its_errors(shell: Shell) -> None:
    shell.run(BUILD)
    told, _ = shell.run("%%gradledger\n\nfound = 6\nfound * 7")
    assert "Out[3]: 42" in told
    assert "7" in shell.run("found + 1")[0]
    told, outputs = shell.run("%%gradledger\nmodel.weight.grad = None\nmodel.weight.grad.zero_()")
    assert "AttributeError" in told
    assert "GL104" in outputs[0]["text/plain"]
    told, _ = shell.run("%%gradledger\nif:")
    assert "SyntaxError" in told


def test_every_cell_is_audited_once_it_is_on(shell: Shell) -> None:
    assert "gradledger is off" in shell.run("%gradledger")[0]
    shell.run("%gradledger on")
    assert shell.run(BUILD) == ("", [])
    train = "def train():\n" + "".join(f"    {line}\n" for line in WRONG.splitlines())
    assert shell.run(train) == ("", [])
    told = shell.html("train()")
    assert "GL101 stale-gradient" in told
    assert "In[5]:4" in told
    assert shell.run("train()") == ("", [])  # nothing new
    assert "audited 8 backward passes" in shell.html("%gradledger report")
    assert "GL101" in shell.html("%gradledger off")
    assert shell.run(WRONG) == ("", [])
    assert "gradledger is off" in shell.run("%gradledger report")[0]


def test_an_optimizer_of_a_model_that_was_built_anew(shell: Shell) -> None:
    shell.run(BUILD)
    shell.run("model = nn.Linear(3, 1)")
    assert "GL403" in shell.html("%%gradledger\n" + RIGHT)


def test_allowing_a_line(shell: Shell) -> None:
    shell.run(BUILD)
    allowed = WRONG.replace("backward()", "backward()  # gradledger: allow[GL101]")
    assert "no findings" in shell.html("%%gradledger\n" + allowed)


def test_check_reads_the_cells_that_ran(shell: Shell) -> None:
    shell.run(BUILD)
    assert "no findings" in shell.html("%gradledger check")
    shell.run("%%gradledger\n" + WRONG)
    told = shell.html("%gradledger check")
    assert "GL101 stale-gradient" in told
    assert "In[4]:4" in told
    assert "checked 1 file: 1 error" in told


def test_check_reads_a_file(shell: Shell, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(BUILD + WRONG)
    assert "train.py:7" in shell.html(f"%gradledger check {script}")
    assert "No such file" in shell.run("%gradledger check missing.py")[0]


def test_wrong_words_are_told_in_one_line(shell: Shell) -> None:
    for line in ("%gradledger maybe", "%gradledger on now", "%%gradledger on\npass"):
        told, _ = shell.run(line)
        assert told.startswith("UsageError: %")
        assert told.count("\n") == 1


def test_what_comes_from_the_program_cannot_be_markup(shell: Shell) -> None:
    shell.run(BUILD)
    hostile = WRONG.replace("loss.backward()", 'loss.backward()  # <script>alert("x")</script>')
    _, outputs = shell.run("%%gradledger\n" + hostile)
    assert "<script" not in outputs[0]["text/html"]
    assert "&lt;script&gt;" in outputs[0]["text/html"]


def test_loading_it_loads_no_torch() -> None:
    code = (
        "import sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_cell('%load_ext gradledger')\n"
        "shell.run_cell('%gradledger on')\n"
        "shell.run_cell('%gradledger check')\n"
        "print('torch' in sys.modules, shell.find_line_magic('gradledger') is not None)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines()[-1] == "False True"


def test_in_a_kernel() -> None:
    import nbclient
    import nbformat

    cells = [
        "%load_ext gradledger\n%gradledger on",
        BUILD,
        WRONG,
        "%gradledger off",
        "%%gradledger\n" + RIGHT,
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "", "language": "python"}
    nbclient.NotebookClient(notebook, timeout=180).execute()
    shown = [
        "".join(output.data["text/html"] for output in cell.outputs if output.output_type == "display_data")
        for cell in notebook.cells
    ]
    assert shown[:2] == ["", ""]
    assert "GL101 stale-gradient" in shown[2]
    assert "In[3]:3" in shown[2]
    assert "1 error" in shown[3]
    assert "no findings" in shown[4]
