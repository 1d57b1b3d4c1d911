"""Source text as lines of a terminal."""

from __future__ import annotations

from gradledger.report.cells import cells, cut
from gradledger.report.style import StreamFacts

INDENT = "  "


def code_lines(text: str, language: str, facts: StreamFacts) -> list[str]:
    """The lines, indented; Python in colours where there are any."""
    plain = [facts.plain(line.expandtabs()) for line in text.rstrip("\n").splitlines()]
    room = facts.width - len(INDENT)
    if facts.colour and language in ("python", "py") and all(cells(line) <= room for line in plain):
        return [INDENT + line if line.strip() else "" for line in _painted("\n".join(plain))]
    return [INDENT + cut(line, room, facts.ellipsis) if line else "" for line in plain]


def _painted(text: str) -> list[str]:
    from io import StringIO

    from rich.console import Console
    from rich.syntax import Syntax

    file = StringIO()
    console = Console(file=file, force_terminal=True, color_system="standard", no_color=False, width=1000)
    highlighted = Syntax(text, "python", theme="ansi_dark", background_color="default").highlight(text)
    console.print(highlighted, end="", soft_wrap=True)
    return file.getvalue().rstrip("\n").splitlines()
