"""A repair as a diff."""

from __future__ import annotations

from difflib import unified_diff

from gradledger.audit.place import shown_path
from gradledger.audit.source import source_lines
from gradledger.rules.finding import Edit, Fix


def diff(fix: Fix, cwd: str) -> list[str]:
    """The lines of a unified diff, file by file; none where the text cannot be had."""
    lines: list[str] = []
    for path, cell in dict.fromkeys((edit.path, edit.cell) for edit in fix.edits):
        before = list(source_lines(path, cell))
        edits = [edit for edit in fix.edits if (edit.path, edit.cell) == (path, cell)]
        if before[-1:] != [""]:  # so that there is a place after the last line
            before.append("")
        after = _edited(before, edits)
        if after is not None:
            while before and after and before[-1] == after[-1] == "":
                before.pop()
                after.pop()
            name = shown_path(path, cwd) + ("" if cell is None else f":cell {cell}")
            lines += unified_diff(before, after, name, name, lineterm="", n=2)
    return lines


def _edited(lines: list[str], edits: list[Edit]) -> list[str] | None:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    whole = "\n".join(lines)
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        (first, column), (last, end) = edit.start, edit.end
        if not (1 <= first <= len(lines) and 1 <= last <= len(lines)):
            return None
        whole = whole[: starts[first - 1] + column - 1] + edit.text + whole[starts[last - 1] + end - 1 :]
    return whole.split("\n")
