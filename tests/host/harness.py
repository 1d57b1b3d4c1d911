"""Runs one program twice, by Python and by the host, and takes the report apart from the rest."""

import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from gradledger.audit.answer import Answer
from gradledger.audit.transfer import answer_from_json

SUPPORT = Path(__file__).parent / "support"
STUB = Path(__file__).parent / "stub"
SOURCE = Path(__file__).parents[2] / "src"
MARK = b"\x1e"


@dataclass(frozen=True)
class Ran:
    """What came out: `err` is what was on standard error besides the reports."""

    status: int
    out: bytes
    err: bytes
    reports: tuple[Answer, ...] = ()
    concluded_with: int | None = None

    @property
    def answer(self) -> Answer:
        (only,) = self.reports
        return only


def environment(*, stub: bool = True, **more: str) -> dict[str, str]:
    ours = [str(SOURCE), str(SUPPORT), *([str(STUB)] if stub else [])]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
    return {**kept, "PYTHONPATH": os.pathsep.join(ours), "OMP_NUM_THREADS": "1", **more}


def taken_apart(status: int, out: bytes, err: bytes) -> Ran:
    lines, reports, concluded = [], [], None
    for line in err.splitlines(keepends=True):
        before, mark, report = line.partition(MARK)
        lines.append(before)
        if mark:
            text, _, code = report.decode().rpartition("|")
            reports.append(answer_from_json(text))
            concluded = int(code)
    return Ran(status, out, b"".join(lines), tuple(reports), concluded)


def audited_command(*words: str) -> list[str]:
    return [sys.executable, str(SUPPORT / "driver.py"), *words]


def ran(command, *, cwd, given=b"", env=None) -> Ran:
    done = subprocess.run(
        command, cwd=cwd, input=given, capture_output=True, env=env or environment(), timeout=120, check=False
    )
    return taken_apart(done.returncode, done.stdout, done.stderr)


def plain(cwd: Path, *words: str, given=b"", env=None) -> Ran:
    return ran([sys.executable, *words], cwd=cwd, given=given, env=env)


def audited(cwd: Path, *words: str, given=b"", env=None) -> Ran:
    return ran(audited_command(*words), cwd=cwd, given=given, env=env)


def script(folder: Path, source: str, name: str = "train.py") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    return path


def same(folder: Path, source: str, *args: str, given=b"", env=None) -> Ran:
    """Run both ways, insist on equal output and status, and return the audited run."""
    script(folder, source)
    expected = plain(folder, "train.py", *args, given=given, env=env)
    got = audited(folder, "train.py", *args, given=given, env=env)
    assert (got.out, _placeless(got.err), got.status) == (
        expected.out,
        _placeless(expected.err),
        expected.status,
    )
    assert len(got.reports) == 1
    return got


def _placeless(text: bytes) -> bytes:
    return re.sub(rb"0x[0-9a-f]+|pid=[0-9]+", b"", text)
