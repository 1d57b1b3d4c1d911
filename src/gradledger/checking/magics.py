"""IPython's own syntax in a cell -> Python with the same lines and columns."""

from __future__ import annotations

import re

_SUSPECT = re.compile(r"^\s*(?:[%!?,;/]|\w[\w.]*\s*=\s*[%!])|\?\s*$", re.MULTILINE)
"""A cell without such a line is plain Python."""

_CELL_MAGIC = re.compile(r"\s*%%\s*([\w.]+)")
_KEEPS_BODY = frozenset(
    {
        "capture",
        "debug",
        "gradledger",
        "heat",
        "ipytest",
        "lprun",
        "memit",
        "mprun",
        "notify",
        "prun",
        "scalene",
        "snakeviz",
        "time",
        "timeit",
        "wandb",
    }
)
"""Cell magics whose cell is still a part of the notebook's program."""

_TIMED = re.compile(r"%(?:time|timeit|prun|memit|snakeviz)\b(?:\s+-\w+(?:[ ]?\d+)?)*\s+(?=[^\s-])")
"""Line magics that run the rest of the line."""

_HELP = re.compile(r"\?{1,2}\s*[\w.*%\[\]]+\s*\Z|[\w.*%][\w.*%\[\]'\"]*\?{1,2}\s*\Z")
_ASSIGNED = re.compile(r"[\w.,\s\[\]]+=\s*(?=[%!])")
_TOKEN = re.compile(
    r"""(?P<comment>\#.*)|(?P<string>[a-zA-Z]{0,2}(?P<quote>'''|\"{3}|'|"))|(?P<open>[(\[{])|(?P<close>[)\]}])"""
)
_STRING_END = {
    quote: re.compile(rf"(?:\\.|(?!{quote}).)*(?P<end>{quote})?", re.DOTALL)
    for quote in ("'''", '"""', "'", '"')
}


def plain_python(cell: str) -> str:
    """The cell (with plain line ends) as Python: what only IPython understands becomes `pass` or nothing."""
    if not _SUSPECT.search(cell):
        return cell
    lines = cell.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    magic = _CELL_MAGIC.match(lines[first])
    if magic is not None:
        if magic[1] not in _KEEPS_BODY:
            return "\n" * (len(lines) - 1)
        lines[first] = ""
    return "\n".join(_statements(lines))


def _statements(lines: list[str]) -> list[str]:
    """Replace lines where a statement begins; the inside of brackets and strings is left alone."""
    result: list[str] = []
    state = _State()
    shell = False
    for line in lines:
        if shell:  # the line before ended in a backslash
            shell = line.endswith("\\")
            result.append("")
        elif state.inside:
            result.append(line)
            state.read(line)
        else:
            replaced = _replaced(line)
            shell = replaced != line and line.endswith("\\")
            result.append(replaced)
            state.read(replaced)
    return result


def _replaced(line: str) -> str:
    body = line.lstrip()
    indent = line[: len(line) - len(body)]
    if body.startswith(("%", "!", "?", ",", ";", "/")) or _HELP.match(body):
        timed = _TIMED.match(body)
        if timed is not None:  # the shortest such magic is as long as `pass; `
            return f"{indent}{'pass;':<{timed.end()}}{body[timed.end() :]}"
        return f"{indent}pass"
    assigned = _ASSIGNED.match(body)
    return f"{indent}{assigned[0]}None" if assigned is not None else line


class _State:
    """Whether the next line goes on with what this one began."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._joined = False

    @property
    def inside(self) -> bool:
        return self._depth > 0 or bool(self._quote) or self._joined

    def read(self, line: str) -> None:
        at = 0
        self._joined = False
        if self._quote:
            at = self._close(line, 0)
        while not self._quote and (token := _TOKEN.search(line, at)) is not None:
            at = token.end()
            if token["comment"]:
                return
            if token["open"]:
                self._depth += 1
            elif token["close"]:
                self._depth = max(0, self._depth - 1)
            else:
                self._quote = token["quote"]
                at = self._close(line, at)
        self._joined = not self._quote and line.endswith("\\")

    def _close(self, line: str, at: int) -> int:
        """Look for the end of the open string; a short one ends with its line in any case."""
        found = _STRING_END[self._quote].match(line, at)
        if found is not None and found["end"]:
            self._quote = ""
            return found.end()
        if len(self._quote) == 1:
            self._quote = self._quote if line.endswith("\\") else ""
        return len(line)
