"""`learn glossary`: the words of the course."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.lessons.catalogue import Term, glossary, lesson
from gradledger.lessons.reading.markdown import prose
from gradledger.lessons.reading.reader import Reader
from gradledger.lessons.refusal import Refusal

TAKES = "[TERM]"
ABOUT = "the words of the course"
ORDER = 9


def run(reader: Reader, words: Sequence[str]) -> int:
    """One term, or those that contain the words; without any, all of them."""
    wanted = " ".join(words).lower()
    terms = glossary()
    found = [term for term in terms if term.name.lower() == wanted]
    found = found or [term for term in terms if wanted in term.name.lower()]
    found = found or [term for term in terms if wanted in term.text.lower()]
    if not found:
        raise Refusal(f'the glossary has no "{" ".join(words)}" (all words: gradledger learn glossary)')
    for number, term in enumerate(found):
        reader.screen.show([*([""] if number else []), *_lines(term, reader)])
    return 0


def _lines(term: Term, reader: Reader) -> list[str]:
    facts = reader.screen.facts
    try:
        more = f"  gradledger learn read {lesson(term.lesson).number}"
    except LookupError:
        more = ""
    rows = prose(term.text, facts, first="  ")
    return [
        facts.paint(facts.prose(term.name), "code"),
        *rows,
        *([facts.paint(more, "quiet")] if more else []),
    ]
