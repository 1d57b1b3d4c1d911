"""What every page has around it: the bar with its links, the style, the scripts."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.record import dataclass
from gradledger.report.page.safe import block, text

NAVIGATION = (
    ("learn", "Course"),
    ("playground", "Playground"),
    ("myths", "Myths"),
    ("quiz", "Quiz"),
    ("glossary", "Glossary"),
)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Nothing is loaded from elsewhere, and no script or style runs but those of our own files."""

_STRIPES = ((1, "0072b2"), (6, "009e73"), (11, "d55e00"))
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E{}%3C/svg%3E".format(
        "".join(f"%3Cpath d='M2 {top}h12v4H2z' fill='%23{colour}'/%3E" for top, colour in _STRIPES)
    )
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page before it has its frame."""

    title: str
    here: str
    """Which link of the bar leads here."""
    body: str
    scripts: tuple[str, ...] = ()
    styles: tuple[str, ...] = ("page.css", "course.css")
    data: object = None
    kind: str = "course"


def framed(page: Page, root: str) -> str:
    """The whole page; `root` is the path under which the server answers."""
    links = "".join(_link(name, word, page.here, root) for name, word in NAVIGATION)
    data = (
        "" if page.data is None else f'<script type="application/json" id="data">{block(page.data)}</script>'
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<link rel="icon" href="{_ICON}">\n'
        f"<title>{text(page.title)} · gradledger</title>\n"
        f"{_styles(page.styles, root)}"
        f'<script src="{text(root)}/assets/theme.js"></script>\n'
        f'</head>\n<body class="{text(page.kind)}" data-root="{text(root)}">\n'
        '<a class="skip" href="#main">Skip to the content</a>\n<header class="bar">\n'
        '<p class="brand"><span class="logo" aria-hidden="true"></span>'
        f'<a href="{text(root)}/learn">gradledger</a></p>\n'
        f'<nav aria-label="Pages">{links}</nav>\n'
        '<button type="button" id="theme" aria-label="Colour scheme: as the system has it">Auto</button>\n'
        f'</header>\n<main id="main">\n{page.body}\n</main>\n{data}\n{_scripts(page.scripts, root)}'
        "</body>\n</html>\n"
    )


def _link(name: str, word: str, here: str, root: str) -> str:
    current = ' aria-current="page"' if name == here else ""
    return f'<a href="{text(root)}/{name}"{current}>{word}</a>'


def _styles(names: Iterable[str], root: str) -> str:
    return "".join(f'<link rel="stylesheet" href="{text(root)}/assets/{name}">\n' for name in names)


def _scripts(names: Iterable[str], root: str) -> str:
    return "".join(f'<script type="module" src="{text(root)}/assets/{name}"></script>\n' for name in names)
