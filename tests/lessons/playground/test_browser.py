"""The playground and the course in a real browser."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator

import pytest

from gradledger.lessons import catalogue
from gradledger.lessons.playground.presets import PRESETS
from tests.lessons.playground.served import Served, served

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
if not os.path.exists(CHROMIUM):
    if os.environ.get("GRADLEDGER_NEEDS_BROWSER"):
        raise RuntimeError("chromium is not installed, and here the pages must be tried in a browser")
    pytest.skip("chromium is not installed", allow_module_level=True)

BY_NAME = {preset.name: preset for preset in PRESETS}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("data")) as one:
        yield one


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, running: Served) -> Iterator[Callable]:
    """Open a page; whatever it complains about or asks another server for is a failure."""
    trouble: list[str] = []
    contexts = []

    def open_page(path: str, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 1000}, **options})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda asked: None if ours(asked.url, running) else trouble.append(asked.url))
        page.goto(running.url + path)
        if path.startswith("playground"):
            page.wait_for_selector("html[data-ready=yes]")
            shown(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []


def ours(url: str, running: Served) -> bool:
    return url.startswith((running.url, "data:"))


def shown(page) -> str:
    """Wait for the run to end; what the verdict says."""
    page.wait_for_selector("#outcome[aria-busy=false]", timeout=90_000)
    return page.inner_text("#verdict-title")


def codes(page) -> list[str]:
    return page.locator("#findings .code").all_inner_texts()


def loop(page) -> dict[str, list[str]]:
    return page.evaluate("""() => {
        const lanes = [...document.querySelectorAll("#nest .lane")];
        const named = (lane) => [...lane.querySelectorAll(".block")].map((block) => block.dataset.name);
        return Object.fromEntries(lanes.map((lane) => [lane.dataset.lane, named(lane)])); }""")


def block(page, name: str):
    return page.locator(f"#nest .block[data-name={name}]").first


def drag(page, source, x: float, y: float) -> None:
    box = source.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 30, box["y"] + box["height"] / 2 + 8)
    page.mouse.move(x, y, steps=6)
    page.mouse.up()


def test_dragging_a_block_changes_the_loop_and_the_rule_speaks(opened) -> None:
    page = opened("playground")
    assert shown(page) == "The books balance"
    assert codes(page) == []
    top = block(page, "forward").bounding_box()
    drag(page, block(page, "zero"), top["x"] + 40, top["y"] + 4)
    assert loop(page)["batch"] == ["zero", "forward", "loss", "divide", "backward"]
    assert shown(page) == "The updates are not what the code says"
    assert codes(page) == ["GL103"]
    assert page.inner_text(".block[data-name=zero] .badge") == "GL103"
    assert "throws away 3 of 4" in page.inner_text("#program .line.label")
    assert "loop=--zfldb-s-" in page.url
    page.click("#undo")
    assert shown(page) == "The books balance"
    assert loop(page)["window_end"] == ["step", "zero"]


def test_blocks_are_added_and_removed_by_the_mouse(opened) -> None:
    page = opened("playground?loop=--flb-sz-&every=1")
    bottom = page.locator("#palette").bounding_box()
    drag(page, block(page, "zero"), bottom["x"] + 60, bottom["y"] + 40)
    assert loop(page)["window_end"] == ["step"]
    assert shown(page) == "The updates are not what the code says"
    assert codes(page) == ["GL101"]
    step = block(page, "step").bounding_box()
    drag(page, page.locator(".chip[data-name=zero]"), step["x"] + 40, step["y"] + step["height"] - 3)
    assert loop(page)["window_end"] == ["step", "zero"]
    assert shown(page) == "The books balance"
    drag(page, block(page, "zero"), 5, 5)  # far from any lane: nothing happens
    assert loop(page)["window_end"] == ["step", "zero"]


def test_the_keyboard_lifts_moves_and_puts_down(opened) -> None:
    page = opened("playground?loop=--flb-zs-")
    told = page.locator("#announce")
    page.locator("#nest .hold").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('.block').dataset.name") == "zero"
    page.keyboard.press("Space")
    assert "zero_grad lifted: place 1 of 2, Window closes" in told.inner_text()
    page.keyboard.press("ArrowDown")
    assert "zero_grad: place 2 of 2, Window closes" in told.inner_text()
    page.keyboard.press("Escape")
    assert loop(page)["window_end"] == ["zero", "step"]
    page.keyboard.press("Space")
    for _ in range(4):
        page.keyboard.press("ArrowUp")
    assert loop(page)["batch"] == ["zero", "forward", "loss", "backward"]
    page.keyboard.press("Space")
    assert "put down: place 1 of 4, Every micro-batch" in told.inner_text()
    shown(page)
    assert "GL103" in codes(page)
    assert page.evaluate("document.activeElement.closest('.block')?.dataset.name") == "zero"
    page.keyboard.press("Delete")
    assert loop(page)["batch"] == ["forward", "loss", "backward"]
    assert "Removed zero_grad" in told.inner_text()
    page.locator(".chip[data-name=zero]").press("Enter")
    assert loop(page)["batch"][-1] == "zero"
    page.keyboard.press("Control+z")
    assert loop(page)["batch"] == ["forward", "loss", "backward"]
    shown(page)


def test_a_preset_gives_its_rule(opened) -> None:
    page = opened("playground")
    for preset in (BY_NAME["zero-between"], BY_NAME["lost-tail"], BY_NAME["leak"]):
        page.click(f"[data-preset={preset.name}]")
        page.wait_for_selector("#outcome[aria-busy=true]")
        shown(page)
        assert codes(page) == list(preset.codes), preset.name
        assert page.get_attribute(f"[data-preset={preset.name}]", "aria-current") == "true"


def test_a_wrong_order_is_explained_as_pytorch_raises_it(opened) -> None:
    page = opened("playground?loop=--bfl-sz-")
    assert shown(page) == "PyTorch stops here"
    assert "nothing has computed one yet" in page.inner_text("#verdict-below")
    assert "NameError: name 'loss' is not defined" in page.inner_text("#program .line.label")
    assert page.inner_text(".block[data-name=backward] .badge") == "stops"
    assert page.locator("#timeline").is_hidden()


def test_a_finding_leads_to_the_timeline_and_to_its_lesson(opened) -> None:
    page = opened("playground?loop=--zfldb-s-")
    assert "Micro-batch 2," in page.inner_text("#told")
    page.click(".go")
    assert page.evaluate("document.activeElement.id") == "canvas"
    assert page.locator(".plot").count() == 3
    assert "this loop" in page.inner_text(".plot >> nth=0")
    page.click("text=Lesson 7: Once per window")
    assert page.inner_text("h1") == "Once per window"


def test_the_program_and_the_link_are_copied(opened, running: Served) -> None:
    page = opened("playground?loop=--flbs--&every=1&optimizer=adam")
    page.click("#copy")
    page.wait_for_selector("#copy:text-is('Copied')")
    program = page.evaluate("navigator.clipboard.readText()")
    compile(program, "train.py", "exec")
    assert "torch.optim.Adam(model.parameters(), lr=0.02)" in program
    page.click("#share")
    page.wait_for_selector("#share:text-is('Copied')")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(running.url)
    again = opened(link.removeprefix(running.url))
    assert loop(again) == loop(page)
    assert again.input_value("#set-optimizer") == "adam"
    assert codes(again) == ["GL101"]


def test_a_broken_link_begins_with_the_right_loop(opened) -> None:
    page = opened("playground?loop=--fl%3Cscript%3E-s-")
    assert "The link could not be used" in page.inner_text("#trouble")
    assert shown(page) == "The books balance"


def test_the_labels_of_a_curve_stand_inside_its_frame(opened) -> None:
    page = opened("playground?loop=--zsfldb--")  # the loss stays at 2.07 and the right one falls to 0.33
    assert shown(page) == "The updates are not what the code says"
    outside = page.evaluate("""() => [...document.querySelectorAll(".plot > svg")].flatMap((svg) =>
        [...svg.querySelectorAll("text")].map((text) => +text.getAttribute("y")).filter((y) => y < 0))""")
    assert outside == []


def test_curves_of_a_loop_with_two_passes_in_a_batch_fill_their_frames(opened) -> None:
    page = opened("playground")
    page.click(".presets >> text=GAN leak")
    page.wait_for_selector("#findings >> text=GL401", timeout=90_000)
    shown(page)
    ends = page.evaluate("""() => [...document.querySelectorAll(".plot > svg")].map((svg) => {
        const frame = +svg.querySelector("line").getAttribute("x2");
        const dots = [...svg.querySelectorAll("circle")].map((dot) => +dot.getAttribute("cx"));
        return Math.max(...dots) / frame; })""")
    assert len(ends) == 4
    assert min(ends) > 0.99
    assert max(ends) < 1.01
    assert "batch 24" in page.text_content(".plot > svg")
    assert "micro-batch" not in page.text_content(".plot > svg")


def test_settings_change_the_run(opened) -> None:
    page = opened("playground")
    page.select_option("#set-sizes", "uneven")
    shown(page)
    assert codes(page) == ["GL203"]
    page.select_option("#set-sizes", "even")
    page.locator("#set-every").fill("3")
    page.wait_for_selector("code:text('if (i + 1) % 3 == 0 or last:')")
    assert shown(page) == "The books balance"
    page.click("#set-amp")
    assert shown(page) == "The books balance"
    assert "scale" in loop(page)["batch"]
    page.click("#set-second")
    assert shown(page) == "The books balance"
    assert "backward_g" in loop(page)["batch"]
    assert page.locator("#set-every").is_disabled()
    page.click("#set-second")
    assert shown(page) == "The books balance"


def test_two_tabs_at_once(opened) -> None:
    one, other = opened("playground?loop=--zfldb-s-"), opened("playground")
    one.click("[data-preset=missing-zero]")
    other.click("[data-preset=undivided]")
    shown(one), shown(other)
    assert (codes(one), codes(other)) == (["GL101"], ["GL201"])
    one.click("[data-preset=right]")
    other.click("[data-preset=clip-first]")
    shown(other), shown(one)
    assert (codes(one), codes(other)) == ([], ["GL301"])


def test_a_run_is_cancelled(opened, running: Served) -> None:
    page = opened("playground")
    asked, cancelled = threading.Event(), threading.Event()
    real = running.workshop._send

    def slow(message: dict) -> None:  # the job is held back, so that there is time to cancel it
        if "cancel" in message:
            real(message)
            cancelled.set()
        else:
            asked.set()

    running.workshop._send = slow  # type: ignore[method-assign]
    try:
        page.click("[data-preset=missing-zero]")
        page.wait_for_selector("#cancel:not([hidden])")
        assert asked.wait(60)
        page.click("#cancel")
        page.wait_for_selector("text=Cancelled.")
        assert cancelled.wait(60)
    finally:
        del running.workshop._send
    assert page.inner_text("#verdict-title") == "The books balance"
    page.click("#rerun")
    page.wait_for_selector("#outcome[aria-busy=true]")
    shown(page)
    assert codes(page) == ["GL101"]


def test_a_phone(opened) -> None:
    page = opened("playground", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "The books balance" in page.inner_text("#peek")
    page.evaluate("""() => {
        const grip = document.querySelector(".block[data-name=zero] .grip");
        const box = grip.getBoundingClientRect();
        const top = document.querySelector(".block[data-name=forward]").getBoundingClientRect();
        const one = { bubbles: true, cancelable: true, pointerId: 7, pointerType: "touch", isPrimary: true };
        const finger = (name, target, clientX, clientY) =>
            target.dispatchEvent(new PointerEvent(name, { ...one, button: 0, clientX, clientY }));
        finger("pointerdown", grip, box.x + 4, box.y + 8);
        finger("pointermove", window, box.x + 4, box.y - 20);
        finger("pointermove", window, top.x + 20, top.y + 3);
        finger("pointerup", window, top.x + 20, top.y + 3);
    }""")
    assert loop(page)["batch"][0] == "zero"
    shown(page)
    assert "GL103" in page.inner_text("#peek")
    for path in ("learn", "learn/lesson/l07", "myths", "quiz/l07", "glossary"):
        page.goto(page.url.split("/playground")[0] + "/" + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        page.go_back()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_colour_scheme_is_kept_from_page_to_page(opened, scheme: str) -> None:
    page = opened("learn", color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(paper)
    assert (before == "rgb(20, 21, 26)") == (scheme == "dark")
    page.click("#theme")
    page.click("#theme")
    page.click("nav >> text=Glossary")
    page.wait_for_url("**/glossary*")  # loaded, so that its button is labelled
    assert page.inner_text("#theme") == "Dark"
    assert page.evaluate(paper) == "rgb(20, 21, 26)"


def test_a_lesson_is_read_predicted_and_run(opened, running: Served) -> None:
    page = opened("learn")
    assert page.locator(".lessons li").count() == len(catalogue.lessons())
    page.click("text=Once per window")
    blank = page.locator(".blank").first
    assert blank.inner_text() == "···"
    page.click("#exhibit-right .run")
    page.wait_for_selector("#exhibit-right .printed:not([hidden])", timeout=90_000)
    assert "update 1: 1/4 1/4 1/4 1/4" in page.inner_text("#exhibit-right .printed")
    assert blank.inner_text() == "1"
    form = page.locator(".predict[data-of=at_every_micro_batch]")
    form.locator("input").fill("1/4")
    form.locator("input").press("Enter")
    page.wait_for_selector(".predict.right")
    assert "Right: it is 0.25." in form.inner_text()
    page.click("#exhibit-training .run")
    page.wait_for_selector(".plot-here:not([hidden]) svg", timeout=90_000)
    page.click("#read")
    page.wait_for_selector("#read[aria-pressed=true]")
    assert running.store.read().places["l07"].done


def test_a_quiz_is_answered_and_explained(opened, running: Served) -> None:
    page = opened("quiz")
    page.click("text=Once per window")
    page.wait_for_selector("html[data-ready=yes]")
    total = page.locator(".question").count()
    for number in range(total):
        question = page.locator(".question").nth(number)
        question.locator(".option").first.click()
        question.locator(".whys:not(:empty)").wait_for()
        assert question.locator(".why").count() == question.locator(".option").count()
        assert question.locator(".is-right").count() == 1
    assert f"of {total} right" in page.inner_text("#score")
    assert running.store.read().quizzes["l07"].of == total


def test_myths_are_judged_by_their_experiment(opened, running: Served) -> None:
    page = opened("myths")
    if not catalogue.myths():
        pytest.skip("there are no myths yet")
    first = catalogue.myths()[0]
    card = page.locator(".myth").first
    assert card.locator(".decided").is_hidden()
    card.locator("[data-says=yes]").click()
    card.locator(".verdict-line:has-text('The experiment says')").wait_for(timeout=90_000)
    assert card.locator(".decided").is_visible()
    assert ("You were right" in card.inner_text()) is first.truth
    assert running.store.read().myths[first.id].right == int(first.truth)


def test_injection_does_nothing(opened) -> None:
    evil = "%3Cimg%20src%3Dx%20onerror%3Ddocument.title%3D1%3E"
    page = opened(f"playground?loop={evil}&every={evil}")
    assert page.locator("img").count() == 0
    assert page.title() == "Playground · gradledger"
