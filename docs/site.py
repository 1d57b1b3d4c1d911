"""Pages of the site that the project's own files already hold: the README, the commands' help, examples.

mkdocs calls the functions below while it builds (`hooks` in mkdocs.yml). Nothing is written to the folder, so
nothing can go stale.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from posixpath import dirname, normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent

PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
"""Files at the root, and their place on the site."""

HEAD = """\
# Commands

What `--help` says of each. Exit codes: 0 nothing found, 1 findings, 2 wrong usage or input.
"""

_LINK = re.compile(r"\]\((?!#|[a-z]+:)([^)#\s]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that come from elsewhere."""
    made = {page: _moved((ROOT / name).read_text(encoding="utf-8"), "", page) for name, page in PAGES.items()}
    made["commands.md"] = commands()
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    for example in sorted((ROOT / "examples").glob("*.py")):
        files.append(
            File.generated(config, f"examples/{example.name}", content=example.read_text(encoding="utf-8"))
        )
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links that leave the folder of the pages to where those files stand on the site."""
    source = page.file.src_uri
    if source in PAGES.values() or source == "commands.md":
        return markdown
    return _moved(markdown, f"docs/{dirname(source)}", source)


def _moved(markdown: str, folder: str, page: str) -> str:
    """A text that stood in a folder of the project, with its links as they are from its page on the site."""

    def link(found: re.Match[str]) -> str:
        target = normpath(f"{folder}/{found[1]}" if folder else found[1])
        place = PAGES.get(target) or (target.removeprefix("docs/") if target.startswith("docs/") else target)
        return f"]({relpath(place, dirname(page) or '.')}{found[2] or ''})"

    parts = _FENCE.split(markdown)
    return "".join(part if part.startswith("```") else _LINK.sub(link, part) for part in parts)


def commands() -> str:
    """What every command's `--help` says, on one page."""
    from gradledger.cli.commands import commands as known
    from gradledger.cli.commands import load
    from gradledger.cli.main import parser_of

    os.environ["COLUMNS"] = "88"
    parts = [HEAD]
    for entry in known().values():
        text = parser_of(load(entry)).format_help()
        parts.append(f"## gradledger {entry.name}\n\n{entry.summary}\n\n```text\n{text.strip()}\n```\n")
    return "\n".join(parts)
