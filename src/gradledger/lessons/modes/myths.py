"""`learn myths`: commit to yes or no, then the experiment decides."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.ledger.record import replace
from gradledger.lessons import catalogue
from gradledger.lessons.lesson import Myth, Plot, Prose, Run
from gradledger.lessons.progress.state import Score
from gradledger.lessons.reading.exhibits import Exhibits
from gradledger.lessons.reading.figure import figure_lines
from gradledger.lessons.reading.markdown import markdown_blocks, prose
from gradledger.lessons.reading.reader import Reader
from gradledger.lessons.refusal import Refusal

TAKES = "[N]"
ABOUT = "is it true? say yes or no, then the experiment decides"
ORDER = 4


def run(reader: Reader, words: Sequence[str]) -> int:
    """One myth by its number; without one, all in turn, those not yet judged first."""
    if len(words) > 1:
        raise Refusal("tell me one myth, as in: gradledger learn myths 3")
    myths = [catalogue.myth(words[0])] if words else list(catalogue.myths())
    if not words and reader.screen.interactive:
        judged = reader.progress.myths
        myths.sort(key=lambda myth: myth.id in judged)
    for number, myth in enumerate(myths, 1):
        _judge(reader, myth)
        if number < len(myths) and reader.screen.interactive:
            reader.screen.ask("-- Enter: the next one   q: stop --")
    return 0


def _judge(reader: Reader, myth: Myth) -> None:
    screen = reader.screen
    facts = screen.facts
    screen.show(
        ["", facts.paint(f"Myth {myth.number}", "code"), *prose(f'"{myth.claim}"', facts, first="  "), ""]
    )
    said = None
    if screen.interactive:
        said = screen.choose("Is it true (yes or no)?", ("yes", "no", "y", "n")).startswith("y")
        screen.show()
    exhibits = Exhibits(myth.folder, screen, ("decide",))
    shown = any(isinstance(part, Run) and part.name == "decide" for part in myth.parts)
    for part in myth.parts if shown else (Run("decide", 1), *myth.parts):
        match part:
            case Prose():
                blocks = markdown_blocks(part.filled(exhibits), facts)
            case Run(name=name):
                blocks = exhibits.blocks(name)
            case Plot(name=name, key=key, title=title, x_label=x_label, y_label=y_label):
                blocks = [figure_lines(exhibits[name].values[key], title, x_label, y_label, facts)]
            case _:
                blocks = []
        for block in blocks:
            if screen.interactive and not screen.fits(len(block) + 1):
                screen.ask("-- Enter: on   q: stop --")
            screen.show([*block, ""])
    holds = bool(exhibits["decide"].values["holds"])
    lesson = catalogue.lesson(myth.lesson).number
    outcome = "The experiment says: it holds." if holds else "The experiment says: it does not hold."
    if said is not None:
        outcome += " You were right." if said == holds else " You said otherwise."
        score = Score(int(said == holds), 1)
        reader.store.change(lambda p: replace(p, myths={**p.myths, myth.id: score}))
    screen.show(
        [
            facts.paint(outcome, "good" if said in (None, holds) else "error"),
            f"More: gradledger learn read {lesson}",
        ]
    )
