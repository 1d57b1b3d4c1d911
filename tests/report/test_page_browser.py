"""The page in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gradledger.ledger import details as d
from gradledger.ledger import events as ev
from gradledger.report.page.build import page as built
from gradledger.report.replay.retelling import retell
from tests.report.recorded import PROGRAM, detailed_run, opening, right_run, site, stale_run


@pytest.fixture
def shown(browser, tmp_path: Path) -> Iterator[Callable]:
    """Open a page made from events; whatever it complains about or asks the network for is a failure."""
    trouble: list[str] = []
    contexts = []

    def opened(events, program: str = PROGRAM, name: str = "train.py", **options):
        train = tmp_path / name
        train.write_text(program, encoding="utf-8")
        told = retell(events(train), str(tmp_path))
        file = tmp_path / "run.html"
        file.write_text(built(told, told.answer, name, str(tmp_path)), encoding="utf-8")
        options = {"viewport": {"width": 1200, "height": 800}, **options}
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda asked: None if asked.url.startswith("file:") else trouble.append(asked.url))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready=yes]", timeout=10_000)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []


def told(page) -> str:
    return page.inner_text("#told")


def settled(page) -> None:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def zoom(page) -> float:
    return page.evaluate("() => view.zoom")


def test_the_first_screen_says_what_is_wrong(shown) -> None:
    page = shown(lambda train: stale_run(train, 40))
    assert page.inner_text("h1") == "The updates are not what the code says"
    assert "train.py, line 7" in page.inner_text(".verdict p")
    card = page.locator(".finding")
    assert card.count() == 1
    assert card.bounding_box()["y"] < 400
    assert "loss.backward()" in card.locator(".line.label").inner_text()
    assert not page.locator(".explained").is_visible()
    page.click("summary")
    assert "Why it stays silent" in page.inner_text(".explained")


def test_hovering_says_which_micro_batches_are_inside(shown) -> None:
    page = shown(lambda train: stale_run(train, 40))
    page.locator("#told").scroll_into_view_if_needed()
    box = page.locator("#canvas").bounding_box()
    x, y = page.evaluate("() => [place(5) + view.zoom / 2, strips().made[0].top + 10]")
    page.mouse.move(box["x"] + x, box["y"] + y)
    assert "Micro-batch 6, after 5 updates: stale" in told(page)
    assert "micro-batches 1 to 5, which a step had already applied" in told(page)
    assert "micro-batch 6 from train.py:7" in told(page)
    assert "optimizer.step()" in told(page)


def test_what_is_cleared_before_any_step_is_said(shown) -> None:
    def thrown_away(train):
        yield from opening(train)
        backward = ev.BackwardRan(site(train, 7), (1,), loader=1)
        clear = ev.GradientCleared(site(train, 8), (1,), owner=1)
        step = ev.OptimizerStepped(site(train, 9), (1,), 1, windowed=True)
        for _ in range(10):
            yield from (backward, clear, backward, step, clear)
        yield ev.RunEnded(None)

    page = shown(thrown_away)
    page.focus("#canvas")
    page.keyboard.press("Home")
    assert "It is cleared before any step uses it" in told(page)
    page.keyboard.press("ArrowRight")
    assert "cleared before any step uses it" not in told(page)
    assert page.evaluate("() => [0, 1, 2, 3].map((at) => lostAt(0, at))") == [True, False, True, False]
    assert "orange foot" in page.inner_text("#legend")


def test_leftovers_that_are_cleared_in_time_are_not_called_stale(shown) -> None:
    def adversarial(train):
        yield from opening(train)
        yield ev.AccountOpened(site(train, 4), 2, 1, optimizer=2)
        cycle = (
            ev.BackwardRan(site(train, 7), (1,)),
            ev.OptimizerStepped(site(train, 8), (1,), 1),
            ev.BackwardRan(site(train, 9), (1, 2)),
            ev.OptimizerStepped(site(train, 10), (2,), 2),
            ev.GradientCleared(site(train, 11), (1, 2)),
        )
        for _ in range(20):
            yield from cycle
        yield ev.RunEnded(None)

    page = shown(adversarial)
    assert page.inner_text("h1") == "The books balance"
    page.focus("#canvas")
    page.keyboard.press("ArrowRight")
    assert "Micro-batch 2, after 1 update: left over" in told(page)
    assert "left over" in page.inner_text("#legend")
    assert "stale" not in page.inner_text("#legend")


def test_the_keyboard(shown) -> None:
    page = shown(lambda train: right_run(train, 30, every=4))
    page.focus("#canvas")
    assert "Micro-batch 1, after 0 updates: fresh" in told(page)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert "Micro-batch 4, after 0 updates: accumulated" in told(page)
    assert "micro-batches 1 to 4 from train.py:7" in told(page)
    page.keyboard.press("End")
    assert "Micro-batch 120, after 29 updates" in told(page)
    page.keyboard.press("Home")
    assert "Micro-batch 1," in told(page)
    before = zoom(page)
    page.keyboard.press("+")
    assert zoom(page) > before
    page.keyboard.press("-")
    assert zoom(page) == pytest.approx(before)
    page.keyboard.press("+")
    page.keyboard.press("0")
    settled(page)
    assert "micro-batches 1 to 120 of 120" in page.inner_text("#extent")


def test_zoom_by_buttons_and_wheel_and_moving(shown) -> None:
    page = shown(lambda train: right_run(train, 400))
    before = zoom(page)
    page.click("[data-do=in]")
    page.click("[data-do=in]")
    assert zoom(page) > before
    page.click("[data-do=right]")
    settled(page)
    assert page.evaluate("() => view.offset") > 0
    page.click("[data-do=fit]")
    settled(page)
    assert "1 to 400 of 400" in page.inner_text("#extent")
    box = page.locator("#canvas").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 20)
    page.mouse.wheel(0, -300)  # without the focus it scrolls the page
    assert zoom(page) == pytest.approx(before, rel=0.01)
    box = page.locator("#canvas").bounding_box()
    page.mouse.click(box["x"] + 300, box["y"] + 20)
    page.mouse.wheel(0, -600)
    settled(page)
    assert zoom(page) > 2 * before
    offset = page.evaluate("() => view.offset")
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 20)
    page.mouse.up()
    assert page.evaluate("() => view.offset") == pytest.approx(offset + 100)


def test_a_finding_leads_to_its_place(shown) -> None:
    page = shown(lambda train: stale_run(train, 3000))
    page.click("[data-do=fit]")
    page.click(".go")
    settled(page)
    assert "Micro-batch 2," in told(page)
    assert page.evaluate("() => place(view.column) >= 0 && place(view.column) < view.width")
    assert page.evaluate("() => document.activeElement.id") == "canvas"


def test_groups_open_to_their_parameters(shown) -> None:
    page = shown(lambda train: stale_run(train, 5, names=("layer.weight", "layer.bias")))
    row = page.locator("#labels .row")
    assert "layer.*" in row.inner_text()
    height = page.locator("#canvas").bounding_box()["height"]
    row.click()
    settled(page)
    assert page.locator("#labels .parameter").all_inner_texts() == ["layer.weight", "layer.bias"]
    assert page.locator("#labels .row").get_attribute("aria-expanded") == "true"
    assert page.locator("#canvas").bounding_box()["height"] == height + 40


def test_details_fill_every_panel(shown) -> None:
    page = shown(lambda train: detailed_run(train, 20))
    titles = page.locator(".plot h3").all_inner_texts()
    assert titles == [
        *("Loss", "Accuracy", "Gradient norm", "Learning rate", "Gradient scale", "Memory of gradients"),
    ]
    assert page.locator(".plot .skipped").count() == 4 * 6
    assert "from 1 to 0.05" in page.locator(".plot svg[role=img]").first.get_attribute("aria-label")
    page.locator(".plot svg[role=img]").first.hover()
    assert re.match(r"\d+: 0\.\d+", page.locator(".plot .read").first.inner_text())
    assert page.locator(".stages h3").all_inner_texts()[:3] == ["1 data", "2 zero the gradients", "3 forward"]
    assert "x 8×2 float32" in page.inner_text("#stages")
    assert "Linear" in page.inner_text("#layers")
    backward = page.locator(".stages li[data-kind=backward]").first
    assert "fresh" in backward.locator(".now .held:has(.swatch.F)").inner_text()
    assert backward.locator(".lots:not(.now) .swatch").count() == 1
    assert "× skipped update" in page.inner_text("#legend")


def test_without_details_a_note_stands_for_the_panels(shown) -> None:
    page = shown(lambda train: right_run(train, 20))
    assert "recorded without detail" in page.inner_text("#curves-lead")
    assert not page.locator("#pipeline").is_visible()
    assert "none" in page.inner_text("#legend")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colour_schemes(shown, scheme: str) -> None:
    page = shown(lambda train: stale_run(train, 20), color_scheme=scheme)
    paper = "() => getComputedStyle(document.body).backgroundColor"
    system = page.evaluate(paper)
    assert (system == "rgb(20, 21, 26)") == (scheme == "dark")
    seen = set()
    for word in ("Light", "Dark", "Auto"):
        page.click("#theme")
        assert page.inner_text("#theme") == word
        seen.add(page.evaluate(paper))
    assert len(seen) == 2
    assert page.evaluate(paper) == system


def test_a_phone(shown) -> None:
    page = shown(
        lambda train: stale_run(train, 60),
        viewport={"width": 375, "height": 740},
        has_touch=True,
        is_mobile=True,
    )
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 375
    page.locator("#canvas").tap(position={"x": 60, "y": 90})
    assert "Micro-batch" in told(page)
    before = zoom(page)
    page.evaluate("""() => {
        const box = canvas.getBoundingClientRect();
        const finger = (name, id, x) => canvas.dispatchEvent(new PointerEvent(name, { pointerId: id,
            pointerType: "touch", isPrimary: id === 1, clientX: box.left + x, clientY: box.top + 40 }));
        canvas.setPointerCapture = () => {};
        finger("pointerdown", 1, 100); finger("pointerdown", 2, 140);
        finger("pointermove", 2, 141); finger("pointermove", 2, 220);
        finger("pointerup", 1, 100); finger("pointerup", 2, 220);
    }""")
    assert zoom(page) > 1.5 * before


def test_thousands_of_steps_stay_smooth(shown) -> None:
    page = shown(lambda train: right_run(train, 20_000, every=4))
    assert "Of 80,000 micro-batches" in page.inner_text("#thinned")
    page.click("[data-do=fit]")
    most = page.evaluate("""() => { let drawn = 0, most = 0; const fill = pen.fillRect;
        pen.fillRect = (...box) => { drawn += 1; fill.apply(pen, box); };
        for (let i = 0; i < 12; i++) { drawn = 0; zoomBy(1.7); paint(); most = Math.max(most, drawn); }
        delete pen.fillRect;
        return [most, view.width]; }""")
    assert 0 < most[0] < 20 * most[1]  # what is drawn depends on the width of the window, not on the run


def test_print_shows_the_whole_run(shown) -> None:
    page = shown(lambda train: stale_run(train, 200))
    page.emulate_media(media="print")
    assert not page.locator(".tools").is_visible()
    assert page.locator(".finding").is_visible()
    assert len(page.pdf()) > 10_000


def test_injection_does_nothing(shown) -> None:
    evil = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    name = "<img src=x onerror=document.title='owned'>.py"
    program = PROGRAM.replace("loss.backward()", f"loss.backward()  # {evil}")
    page = shown(lambda train: stale_run(train, 9, names=(evil, "b")), program=program, name=name)
    page.locator("#labels .row").click()
    page.focus("#canvas")
    page.keyboard.press("ArrowRight")
    page.click("summary")
    settled(page)
    assert page.title() != "owned"
    assert page.locator("img").count() == 0
    assert evil in page.locator("#labels .parameter").first.inner_text()
    assert evil in told(page)


def test_nothing_trained_at_all(shown) -> None:
    page = shown(lambda train: iter(()))
    assert page.inner_text("h1") == "Nothing was trained"
    assert not page.locator("#timeline").is_visible()
    assert not page.locator("nav a[href='#timeline']").is_visible()


def adversaries(train: Path) -> Iterator[ev.Event]:
    """Two optimizers of one kind, whose losses lie between round numbers."""
    yield d.StepsWanted(None, (1, 2))
    for number in (1, 2):
        yield ev.OptimizerBuilt(site(train, number), number, "Adam")
        yield ev.AccountOpened(site(train, number), number, 2, optimizer=number)
    for at in range(20):
        for number in (1, 2):
            yield ev.GradientCleared(site(train, 3), (number,), number)
            yield d.LossSeen(site(train, 3 + number), 0.544 + 0.669 * at / 19)
            yield ev.BackwardRan(site(train, 3 + number), (number,))
            yield d.NormSeen(None, (number,), 1.0 + at)
            yield d.RateSeen(None, number, 0.1 * number)
            yield ev.OptimizerStepped(site(train, 6), (number,), number)
    yield ev.RunEnded(None)


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("opt_g = Adam(a)\nself.judge: Optimizer = Adam(b)\n", ["Adam opt_g", "Adam self.judge"]),
        ("optimizers = [Adam(m) for m in\n  (a, b)]\n", ["Adam 1", "Adam 2"]),
    ],
)
def test_optimizers_of_one_kind_are_told_apart(shown, program: str, names: list[str]) -> None:
    page = shown(adversaries, program=program + "zero\nlose\nlose\nstep\n")
    assert page.locator("#labels b").all_inner_texts() == names
    keys = page.locator(".plot .key").all_inner_texts()
    assert [f"at the step of {name}" in keys for name in names] == [True, True]
    assert [name in keys for name in names] == [True, True]


def test_every_line_of_a_plots_grid_is_inside_its_frame(shown) -> None:
    page = shown(adversaries)
    places = page.evaluate(
        """[...document.querySelectorAll(".plot")].map((plot) => [
            plot.querySelector("h3").textContent,
            [...plot.querySelectorAll("svg line[stroke='var(--line)']")].map((one) => one.y1.baseVal.value),
        ])"""
    )
    assert places
    for title, heights in places:
        assert heights, title
        assert min(heights) >= 7.9, title
        assert max(heights) <= 148.1, title


def test_the_stages_of_adversaries_call_their_optimizers_as_the_timeline_does(shown) -> None:
    page = shown(adversaries, program="opt_g = Adam(a)\nopt_d = Adam(b)\nzero\nlose\nlose\nstep\n")
    lots = page.locator(".stages .held").all_inner_texts()
    assert {text.partition(":")[0] for text in lots if ":" in text} == {"Adam opt_g", "Adam opt_d"}


def test_memory_is_told_in_round_numbers_and_what_clearing_gave_back(shown) -> None:
    page = shown(given_back)
    plot = page.locator(".plot").filter(has_text="Memory of gradients")
    assert plot.locator("text").all_text_contents()[:4] == ["0 B", "512 B", "1 KB", "1.5 KB"]
    assert plot.locator(".given-back").count() == 10
    assert "given back" in plot.locator(".key").inner_text()


def given_back(train: Path) -> Iterator[ev.Event]:
    """A loop that gives its gradients' memory back before each pass."""
    yield d.StepsWanted(None, (1, 2))
    yield ev.OptimizerBuilt(site(train, 1), 1, "SGD")
    yield ev.AccountOpened(site(train, 1), 1, 2, optimizer=1)
    for _ in range(10):
        yield d.MemorySeen(None, 0)
        yield ev.GradientCleared(site(train, 3), (1,), 1)
        yield d.MemorySeen(None, 1300)
        yield ev.BackwardRan(site(train, 4), (1,))
        yield ev.OptimizerStepped(site(train, 6), (1,), 1)
    yield ev.RunEnded(None)


def test_small_print_can_be_read(shown) -> None:
    """Each tone of text stands out from paper and cards, in both schemes, as WCAG's AA asks."""
    page = shown(lambda train: stale_run(train, 20))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        tones = page.evaluate(TONES)
        for ink in ("ink", "soft", "faint", "error", "good", "accent", "stale-ink"):
            for ground in ("paper", "card"):
                assert contrast(tones[ink], tones[ground]) >= 4.5, (scheme, ink, ground)


TONES = """() => Object.fromEntries(
  ["ink", "soft", "faint", "error", "good", "accent", "stale-ink", "paper", "card"].map((name) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    return [name, [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)];
  }))"""


def contrast(one: list[float], other: list[float]) -> float:
    """How much lighter one colour is than the other."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: list[float]) -> float:
    """How light a colour seems, by its parts of red, green and blue."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_a_dark_screen_prints_on_white_paper(shown) -> None:
    page = shown(lambda train: stale_run(train, 20), color_scheme="dark")
    dark = page.evaluate("() => fills.card")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("() => [fills.card, fills.ink]") == ["#fff", "#000"]  # what the canvas draws with
    page.emulate_media(media="screen", color_scheme="dark")
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("() => fills.card") == dark
