"""`learn repair 7`: a broken script in the reader's own editor, judged when it is run again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gradledger.ledger.record import replace
from gradledger.lessons.lesson import Lesson
from gradledger.lessons.progress.state import Exercise, Progress
from gradledger.lessons.reading.markdown import prose
from gradledger.lessons.reading.reader import Reader, one_lesson
from gradledger.lessons.refusal import Refusal, need_torch
from gradledger.lessons.repairing.judging import Found, Verdict, judged
from gradledger.lessons.repairing.stated import stated
from gradledger.report.cells import wrap

TAKES = "LESSON [FILE]"
ABOUT = "mend a broken script in your editor; it is judged"
ORDER = 5


def run(reader: Reader, words: Sequence[str]) -> int:
    """Hand out the broken script, or judge what the reader made of it; exit code 1 if it is not right yet."""
    lesson = one_lesson(words[:1], "repair 7")
    if len(words) > 2:
        raise Refusal("repair takes a lesson and at most one file: gradledger learn repair 7 my_copy.py")
    path = _path(reader, lesson, words[1] if len(words) == 2 else None)
    if path.is_dir():
        raise Refusal(f"{path} is a folder; name the script in it")
    if not path.exists():
        _hand_out(lesson, path)
        _keep(reader, lesson, path, done=False)
        reader.screen.show(_task(lesson, path, reader))
        return 0
    need_torch()
    reader.screen.show(f"Judging {path} ...")
    with reader.screen.working("reading it, running it, comparing its weights"):
        verdict = judged(path, lesson.folder)
    _keep(reader, lesson, path, done=verdict.good)
    reader.screen.show(_told(verdict, lesson, path, reader))
    return 0 if verdict.good else 1


def _path(reader: Reader, lesson: Lesson, given: str | None) -> Path:
    """The reader's copy: the one named, the one here, the one handed out earlier, else a new one here."""
    if given is not None:
        return Path(given)
    here = Path(f"{lesson.id}_{lesson.slug}.py")
    known = reader.progress.repairs.get(lesson.id)
    if not here.exists() and known is not None and Path(known.path).exists():
        return Path(known.path)
    return here


def _hand_out(lesson: Lesson, path: Path) -> None:
    """Write the broken script, without the lines that name the mistake."""
    source = lesson.folder / "broken.py"
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)[stated(source).lines :]
    head = f"# Lesson {lesson.number}: mend this, then run: gradledger learn repair {lesson.number}\n"
    try:
        path.write_text(head + "".join(lines), encoding="utf-8", newline="\n")
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror or error}") from error


def _keep(reader: Reader, lesson: Lesson, path: Path, *, done: bool) -> None:
    """Remember where the script lies; what was once mended stays mended, whatever is tried afterwards."""

    def change(progress: Progress) -> Progress:
        known = progress.repairs.get(lesson.id)
        exercise = Exercise(str(path.absolute()), done or (known is not None and known.done))
        return replace(progress, repairs={**progress.repairs, lesson.id: exercise})

    reader.store.change(change)


def _task(lesson: Lesson, path: Path, reader: Reader) -> list[str]:
    facts = reader.screen.facts
    told = (
        f"It is a training script with a mistake of the kind that lesson {lesson.number} is about. Mend it "
        "in your editor; leave the data, the seed, the model, the learning rate and the number of epochs as "
        "they are."
    )
    commands = {
        f"gradledger run {path}": "what is wrong",
        f"gradledger learn repair {lesson.number}": "your version, judged",
    }
    width = max(map(len, commands))
    rows = [f"  {command:<{width}}   {about}" for command, about in commands.items()]
    return [facts.paint(f"Wrote {path}", "code"), "", *prose(told, facts), "", *rows]


def _told(verdict: Verdict, lesson: Lesson, path: Path, reader: Reader) -> list[str]:
    facts = reader.screen.facts
    if verdict.unreadable:
        lines = _row("reading it", f"cannot read it: {verdict.unreadable}", reader, good=False)
    else:
        lines = _judge("reading it", verdict.check, path, reader)
        if verdict.run or not (verdict.crashed or verdict.idle):
            lines += _judge("running it", verdict.run, path, reader)
        if verdict.idle:
            lines += _row("running it", verdict.idle, reader, good=False)
        if verdict.crashed:
            lines += _row("running it", f"it did not run to its end: {verdict.crashed}", reader, good=False)
        elif verdict.weights:
            lines += _row("its weights", verdict.weights, reader, good=False)
        else:
            text = f"those of the arithmetic, up to {verdict.distance:.0e} of their length"
            lines += _row("its weights", text, reader, good=True)
    if verdict.good:
        mended = facts.paint("Mended: nothing is left to find.", "good")
        return [*lines, "", mended, f"  gradledger learn quiz {lesson.number}"]
    codes = dict.fromkeys(found.code for found in (*verdict.check, *verdict.run))
    lines += ["", facts.paint("Not yet.", "error")]
    lines += [f"  gradledger explain {code}" for code in codes]
    if not codes and verdict.weights and not verdict.idle:
        lines += prose(_OTHERWISE, facts, first="  ")
    return [*lines, f"  gradledger learn read {lesson.number}"]


_OTHERWISE = (
    "No rule is broken, but it is not the training that the lesson asks for. Are data, seed, model, learning "
    "rate, divisor and number of updates as they were?"
)


def _judge(name: str, findings: tuple[Found, ...], path: Path, reader: Reader) -> list[str]:
    if not findings:
        return _row(name, "finds nothing", reader, good=True)
    return [
        line
        for found in findings
        for line in _row(
            name, f"{found.code} {found.name}, {path.name}:{found.line}: {found.message}", reader, good=False
        )
    ]


def _row(name: str, text: str, reader: Reader, *, good: bool) -> list[str]:
    facts = reader.screen.facts
    mark = facts.paint("ok", "good") if good else facts.paint("no", "error")
    front = f"  {mark}  {name:<13}"
    indent = " " * 19
    rows = wrap(facts.prose(text), facts.width - len(indent) - 1)
    return [(indent if number else front) + row for number, row in enumerate(rows)]
