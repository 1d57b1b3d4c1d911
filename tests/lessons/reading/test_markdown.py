"""Markdown becomes lines that fit, with colours or without."""

from __future__ import annotations

import re

import pytest

from gradledger.lessons.reading.markdown import markdown_blocks, markdown_text, prose
from gradledger.report.cells import cells
from gradledger.report.style import StreamFacts

PLAIN = StreamFacts(width=60)
BRIGHT = StreamFacts(width=60, colour=True)

TEXT = """\
## A heading

Some **bold words** and *leaning ones*, some `code`, and a [link](l07) to a lesson, a [rule](GL103), \
a [page](https://example.org/x), in lines that are longer than the screen.

- first, with words enough to need a second line of its own on a narrow screen
- second
    - inside

3. third
4. fourth

| what | how much it is in all the words that one could think of |
|---|---|
| `a` | 1 |
| b | twice as much, and some more words for the wrapping |

```python
for x in y:
    print("{}")  # comment
```
"""


def test_without_colours() -> None:
    assert (
        markdown_text(TEXT, PLAIN)
        == """\
A heading
---------

Some *bold words* and _leaning ones_, some `code`, and a
link (gradledger learn read 7) to a lesson, a rule
(gradledger explain GL103), a page (https://example.org/x),
in lines that are longer than the screen.

  • first, with words enough to need a second line of its
    own on a narrow screen
  • second
      • inside

  3. third
  4. fourth

  what  how much it is in all the words that one could
        think of
  ----  ---------------------------------------------------
  `a`   1
  b     twice as much, and some more words for the wrapping

  for x in y:
      print("{}")  # comment
"""
    )


def test_colours_change_no_word() -> None:
    bare = re.sub(r"\x1b\[[\d;]*m", "", markdown_text(TEXT, BRIGHT))
    assert "\x1b[1mbold words\x1b[0m" in markdown_text(TEXT, BRIGHT)
    assert "bold words and leaning ones, some code," in bare
    assert '      print("{}")  # comment' in bare


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_screen(width: int, colour: bool) -> None:
    text = markdown_text(TEXT + "\n" + "x" * 200, StreamFacts(width=width, colour=colour))
    lines = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in text.splitlines()]
    assert max(map(cells, lines)) <= width


def test_ascii_only() -> None:
    text = markdown_text("2² · 3 → 12 — “so”\n\n- one", StreamFacts(unicode=False))
    assert text == '2^2 * 3 -> 12 - "so"\n\n  - one\n'


def test_terminal_controls_are_harmless() -> None:
    assert "\x1b" not in markdown_text("a \x1b[31m b `\x1b]0;x\x07`", PLAIN)


def test_a_heading_stays_with_what_follows() -> None:
    assert [block[0] for block in markdown_blocks("one\n\n## two\n\nthree", PLAIN)] == ["one", "two"]


def test_html_is_text() -> None:
    assert "<b>" in markdown_text("<b>bold</b>", PLAIN)


def test_prose_after_a_mark() -> None:
    assert prose("words " * 15, PLAIN, first="  a) ") == [
        "  a) words words words words words words words words words",
        "     words words words words words words",
    ]


def test_a_table_breaks_no_word_while_other_columns_can_give_way() -> None:
    table = "| call | what it does to parameters that are idle now |\n|---|---|\n"
    table += "| `zero_grad(set_to_none=False)` | moves them by momentum, decay, averages |\n"
    lines = markdown_blocks(table, StreamFacts(width=50))[0]
    assert any("`zero_grad(set_to_none=False)`" in line for line in lines)
    assert max(map(cells, lines)) <= 50
    narrow = markdown_blocks(table, StreamFacts(width=24))[0]
    assert max(map(cells, narrow)) <= 24


def test_a_heading_alone_is_followed_by_no_line_of_its_own() -> None:
    assert markdown_blocks("## Alone\n", PLAIN) == [["Alone", "-----"]]
