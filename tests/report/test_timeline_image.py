"""The timeline as a picture: what it shows is what the page's data says."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from xml.etree import ElementTree

from gradledger.ledger import events as ev
from gradledger.report import timeline_image as image
from gradledger.report.replay.columns import columns
from gradledger.report.replay.retelling import retell
from tests.report.recorded import detailed_run, opening, right_run, site, stale_run

PNG = b"\x89PNG\r\n\x1a\n"


def drawn(events: Iterable[ev.Event], form: str = "svg", name: str = "train.py") -> bytes:
    told = retell(events, ".")
    return image.timeline_image(told, told.answer, name, form)  # type: ignore[arg-type]


def words(svg: bytes) -> list[str]:
    nodes = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(node.itertext()).strip() for node in nodes]


def test_states_of_every_row() -> None:
    told = columns(retell(right_run("train.py", 2, every=3), ".").timeline.data())
    assert told.states == ["FAAFAA"]
    assert told.fresh == [[1, 2, 3, 1, 2, 3]]
    assert told.marks[2] == ["backward", "step", "clear"]
    assert columns(retell(stale_run("train.py", 4), ".").timeline.data()).states == ["FSSS"]


def test_what_no_step_uses_is_left_over_and_not_stale() -> None:
    cycle = (
        ev.BackwardRan(site("train.py", 7), (1,)),
        ev.OptimizerStepped(site("train.py", 8), (1,), 1),
        ev.BackwardRan(site("train.py", 9), (1, 2)),
        ev.OptimizerStepped(site("train.py", 10), (2,), 2),
        ev.GradientCleared(site("train.py", 11), (1, 2)),
    )
    other = ev.AccountOpened(site("train.py", 4), 2, 1, optimizer=2)
    told = columns(retell([*opening("train.py"), other, *cycle * 3], ".").timeline.data())
    assert told.states[0] == "FLFLFL"


def test_gaps_of_a_long_run() -> None:
    told = columns(retell(right_run("train.py", 12_000), ".").timeline.data())
    assert told.gaps
    assert told.numbers == sorted(told.numbers)
    assert len(told.numbers) == len(told.states[0]) == len(told.marks) == len(told.fresh[0])


def test_a_png_is_one() -> None:
    data = drawn(stale_run("train.py", 20), "png")
    width, height = struct.unpack(">II", data[16:24])
    assert data.startswith(PNG)
    assert (1000 < width < 2000, 200 < height < 1200) == (True, True)


def test_colours_patterns_letters_legend_and_findings_of_the_page() -> None:
    svg = drawn(stale_run("train.py", 20)).decode()
    tones = image._tones()
    for name in ("fresh", "stale", "error"):
        assert tones[name] in svg
    assert tones["accumulated"] not in svg
    assert "<pattern" in svg  # stale is crossed, and not only orange
    told = words(svg.encode())
    assert told.count("S") == 19
    assert {"GL101", "fresh", "stale", "backward", "step", "micro-batch"} <= set(told)
    assert any("The updates are not what the code says" in word for word in told)


def test_skips_and_losses_have_marks_of_their_own() -> None:
    assert "skipped step" in words(drawn(detailed_run("train.py", 20)))

    def thrown_away() -> Iterable[ev.Event]:
        yield from opening("train.py")
        for _ in range(8):
            yield ev.BackwardRan(site("train.py", 7), (1,), loader=1)
            yield ev.GradientCleared(site("train.py", 8), (1,), owner=1)
        yield ev.RunEnded(None)

    assert "cleared unused" in words(drawn(thrown_away()))
    told = columns(retell(thrown_away(), ".").timeline.data())
    assert told.lost == [[True] * 8]
    assert columns(retell(right_run("train.py", 3), ".").timeline.data()).lost == [[False] * 3]


def test_its_size_does_not_grow_with_the_run() -> None:
    short, long = (drawn(right_run("train.py", steps, every=4)) for steps in (1_000, 12_000))
    assert len(long) < 1.5 * len(short)
    assert len(long) < 600_000


def test_the_same_run_gives_the_same_file() -> None:
    assert drawn(stale_run("train.py", 9)) == drawn(stale_run("train.py", 9))


def test_names_are_shown_as_text() -> None:
    evil = "$\\frac{x$<script>\x1b[31m\u202e"
    svg = drawn(stale_run("train.py", 3, names=(evil, "b")), name=evil)
    assert b"<script>" not in svg
    assert any(word.startswith("$\\frac{x$<script>") for word in words(svg))


def test_nothing_trained() -> None:
    assert "Nothing was trained" in " ".join(words(drawn(iter(()))))
