"""`learn trace 7`: one training step of the lesson's script in stages, by `gradledger trace`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gradledger.lessons.lesson import Lesson
from gradledger.lessons.reading.reader import Reader, one_lesson
from gradledger.lessons.refusal import Refusal, need_torch

TAKES = "LESSON [broken]"
ABOUT = "one step of the lesson's loop in stages, with values"
ORDER = 2


def run(reader: Reader, words: Sequence[str]) -> int:
    """Trace the right script of a lesson, or the broken one if that was asked for."""
    which = words[1] if len(words) == 2 else "fixed"
    if which not in ("fixed", "broken"):
        raise Refusal(
            f'a lesson has a fixed and a broken script, no "{which}": gradledger learn trace 7 broken'
        )
    lesson = one_lesson(words[:1], "trace 7")
    need_torch()
    screen = reader.screen
    screen.show([f"$ gradledger trace {which}.py", ""])
    status = _traced(lesson, which, reader)
    other = "broken" if which == "fixed" else "fixed"
    screen.show(["", f"The {other} one: gradledger learn trace {lesson.number} {other}"])
    return status


def _traced(lesson: Lesson, which: str, reader: Reader) -> int:
    with tempfile.TemporaryDirectory() as folder:  # so that the script is seen by its short name
        script = Path(shutil.copy(lesson.folder / f"{which}.py", folder))
        command = [sys.executable, "-m", "gradledger", "trace", script.name]
        if not reader.screen.interactive:
            return subprocess.run(command, cwd=folder, check=False).returncode
        return subprocess.run(command, cwd=folder, check=False, stdin=subprocess.DEVNULL).returncode
