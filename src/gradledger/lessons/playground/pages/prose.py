"""The Markdown of the course as HTML, with a blank for every value that an exhibit has yet to give."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast

from markdown_it import MarkdownIt

from gradledger.ledger.record import dataclass
from gradledger.lessons.exhibit import Exhibit, Value
from gradledger.lessons.lesson import Prose
from gradledger.lessons.playground.pages.code import code_lines
from gradledger.report.page.safe import text

_BLANK = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class Blank:
    """A place in the text that shows a value of an exhibit."""

    exhibit: str
    key: str
    path: tuple[str, ...]
    spec: str

    def filled(self, values: Mapping[str, Value]) -> str:
        """The value as the text shows it."""
        value: Any = values[self.key]
        for step in self.path:
            value = value[step if isinstance(value, Mapping) else int(step)]
        return format(value, self.spec)


class Blanks:
    """The blanks of one page, in the order of its text."""

    def __init__(self) -> None:
        self.listed: list[Blank] = []

    def html(self, part: Prose) -> str:
        """A piece of prose, its values left blank."""
        made = markdown(part.filled(cast("Mapping[str, Exhibit]", _Exhibits(self.listed))))
        return _BLANK.sub(_blank, made)

    def of(self, exhibit: str, values: Mapping[str, Value]) -> dict[str, str]:
        """What belongs into the blanks of this exhibit, by their numbers."""
        mine = ((number, blank) for number, blank in enumerate(self.listed) if blank.exhibit == exhibit)
        return {str(number): blank.filled(values) for number, blank in mine}


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("fence", _fence)
    return parser


def markdown(source: str) -> str:
    """Markdown as HTML; markup in it is shown as it is written."""
    return str(_parser().render(source))


def inline(source: str) -> str:
    """One line of Markdown."""
    return str(_parser().renderInline(source))


def _fence(renderer: object, tokens: Sequence[Any], at: int, options: object, env: object) -> str:  # noqa: ARG001
    token = tokens[at]
    python = token.info.strip() in ("python", "py")
    lines = code_lines(token.content) if python else map(text, token.content.splitlines())
    return f'<pre class="code"><code>{chr(10).join(lines)}</code></pre>\n'


def _blank(found: re.Match[str]) -> str:
    return f'<output class="blank" data-blank="{found[1]}" aria-label="not run yet">···</output>'


class _Anything(Mapping[str, Any]):
    """A mapping that has every key."""

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _Exhibits(_Anything):
    """Stands in for exhibits that have not run: each value it is asked for becomes a blank."""

    def __init__(self, listed: list[Blank], name: str = "") -> None:
        self._listed = listed
        self._name = name

    @property
    def values(self) -> Any:
        return _Unknown(self._listed, self._name)

    def __getitem__(self, name: str) -> _Exhibits:
        return _Exhibits(self._listed, name)


class _Unknown(_Anything):
    """A value that is not known yet, and whatever is inside it."""

    def __init__(self, listed: list[Blank], exhibit: str, path: tuple[str, ...] = ()) -> None:
        self._listed = listed
        self._exhibit = exhibit
        self._path = path

    def __getitem__(self, step: str) -> _Unknown:
        return _Unknown(self._listed, self._exhibit, (*self._path, step))

    def __format__(self, spec: str) -> str:
        key, *path = self._path
        self._listed.append(Blank(self._exhibit, key, tuple(path), spec))
        return f"\ue000{len(self._listed) - 1}\ue001"
