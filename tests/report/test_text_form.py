from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradledger.audit.answer import Answer, Checked
from gradledger.audit.source import forget
from gradledger.ledger.site import Site
from gradledger.report.cells import cells
from gradledger.report.finding_text import ranks_text
from gradledger.report.style import StreamFacts
from gradledger.report.summary import summary
from gradledger.report.text_form import render
from gradledger.rules.finding import Certainty, Related, Severity
from tests.samples import TRAIN, answer, answers, finding, steady

SNAPSHOTS = Path(__file__).parent / "snapshots"

DEEP = """\
class Trainer:
    def fit(self):
        for epoch in self.epochs:
            for x, y in self.loader:
                with self.autocast():
                    loss = self.criterion(self.model(x), y) / self.window_length_in_micro_batches
                    self.scaler.scale(
                        loss,
                    ).backward()

                self.log(loss)
                self.metrics.update(x, y)
                self.metrics.show()

                if self.last_of_window():
                    self.scaler.step(self.optimizer)
"""
HOSTILE = "a = 1\n\tloss.backward()\t# \x1b[2J\x07 \u202e勾配\nb = 2\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in [("train.py", TRAIN), ("deep.py", DEEP), ("hostile.py", HOSTILE)]:
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "update.py").write_text("def update(opt):\n    opt.step()\n")
    forget()
    return tmp_path


def classic(project: Path) -> Answer:
    path = project / "train.py"
    return answer(
        finding(
            path,
            related=(Related(Site(str(path), 6), ""),),
            detail="124 of 125 steps; at the last one 31 of the 32 micro-batches inside each gradient were "
            "old (norm 14.2 where this batch alone gives 0.61)",
            remedy="call optimizer.zero_grad() before line 5, once per update.",
        )
    )


def several(project: Path) -> Answer:
    deep, train, update = project / "deep.py", project / "train.py", project / "pack" / "update.py"
    first = finding(
        deep,
        7,
        end_line=9,
        code="GL501",
        name="sync-every-microbatch",
        severity=Severity.PERFORMANCE,
        message="reduces the gradients of all processes although no step follows",
        related=(
            Related(Site(str(deep), 6), "the loss of one micro-batch"),
            Related(Site(str(deep), 16), "the step that would have needed only one reduction"),
            Related(Site(str(update), 2), "the other step"),
        ),
        ranks=(0, 1),
        remedy="wrap all but the last backward of a window in no_sync().",
    )
    second = finding(
        train,
        6,
        code="GL202",
        name="leaked-tail",
        severity=Severity.WARNING,
        certainty=Certainty.POSSIBLE,
        message="the last window may be short",
        detail="first paragraph\nsecond paragraph",
    )
    gone = finding(
        project / "gone.py", 3, code="GL105", name="repeated-step", message="applies the same again"
    )
    gone = replace(gone, site=replace(gone.site, via="Trainer.training_step"))
    return answer(
        first, second, gone, checked=Checked(250, 250, 8, 2, processes=2), notes=("the script crashed",)
    )


def hostile(project: Path) -> Answer:
    found = finding(
        project / "hostile.py",
        2,
        message="does \x1b]0;evil\x07 harm",
        detail="\x1b[2J",
        remedy="re\x1bmove\nit",
        related=(Related(Site("/no\x1bwhere.py", 1), "\r\x1b[A"),),
    )
    return answer(found, notes=("note\x1b",))


CASES = {"classic": classic, "several": several, "hostile": hostile, "clean": lambda project: answer()}
LOOKS = {
    "80": StreamFacts(),
    "60_ascii": StreamFacts(width=60, unicode=False),
    "120": StreamFacts(width=120),
    "80_colour": StreamFacts(colour=True),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("case", CASES)
def test_snapshot(project: Path, case: str, look: str) -> None:
    facts = replace(LOOKS[look], cwd=str(project))
    text = render(CASES[case](project), facts)
    snapshot = SNAPSHOTS / f"{case}_{look}.txt"
    if os.environ.get("GRADLEDGER_UPDATE_SNAPSHOTS") == "1":
        snapshot.write_bytes(text.encode())
    assert text.encode() == snapshot.read_bytes()


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("case", CASES)
def test_only_the_summary_may_be_wider_than_the_terminal(project: Path, case: str, look: str) -> None:
    facts = replace(LOOKS[look], cwd=str(project))
    given_answer = CASES[case](project)
    shown = re.sub(r"\x1b\[[\d;]*m", "", render(given_answer, facts)).splitlines()
    shown.remove(summary(given_answer))
    assert max(map(cells, shown), default=0) <= facts.width


def test_no_colours_no_escapes(project: Path) -> None:
    text = render(hostile(project), StreamFacts(cwd=str(project)))
    assert set(text) & {chr(code) for code in (*range(32), *range(127, 160))} == {"\n"}


streams = st.builds(StreamFacts, width=st.integers(60, 120), unicode=st.booleans(), cwd=st.just("/"))


@steady
@given(answers, streams)
def test_nothing_ever_controls_the_terminal(given_answer: Answer, facts: StreamFacts) -> None:
    text = render(given_answer, facts)
    assert all(
        character.isprintable() or character in "\n\u3000\u00a0" or character.isspace() for character in text
    )
    assert not set(text) & {
        chr(code) for code in (*range(10), *range(11, 32), *range(127, 160), 0x2028, 0x202E)
    }
    assert facts.unicode or text.isascii()
    assert text.endswith("\n")


@steady
@given(st.text(), st.text(), st.text(), streams)
def test_prose_is_never_wider_than_the_terminal(
    message: str, detail: str, remedy: str, facts: StreamFacts
) -> None:
    found = finding("/gone.py", message=message, detail=detail, remedy=remedy)
    text = render(answer(found, checked=Checked(1), notes=(message,)), facts)
    assert max(map(cells, text.splitlines())) <= facts.width


def test_possible_findings_stand_apart(project: Path) -> None:
    text = render(several(project), StreamFacts(cwd=str(project)))
    assert text.index("GL501") < text.index("GL105") < text.index("\npossible: ") < text.index("GL202")


def test_clean_is_one_line() -> None:
    text = render(answer(), StreamFacts())
    assert text == "audited 125 backward passes, 125 steps, 8 parameters in 2 groups: no findings\n"


@pytest.mark.parametrize(
    ("ranks", "text"),
    [
        ((), ""),
        ((1,), "rank 1"),
        ((0, 1), "ranks 0 and 1"),
        ((0, 2, 3), "ranks 0, 2 and 3"),
        (tuple(range(8)), "ranks 0 to 7"),
        ((0, 1, 2, 5), "ranks 0, 1, 2 and 5"),
    ],
)
def test_ranks(ranks: tuple[int, ...], text: str) -> None:
    assert ranks_text(ranks) == text
