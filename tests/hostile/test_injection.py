"""Names, lines and messages of somebody else, in every form of output: shown, and never obeyed."""

from __future__ import annotations

import json
import os
import pty
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from subprocess import DEVNULL, Popen

import pytest

from gradledger.audit.answer import Answer, Checked
from gradledger.cli.terminal import emit
from gradledger.ledger.site import Site
from gradledger.report.forms import renderer
from gradledger.report.inline import inline
from gradledger.report.neutral import neutral
from gradledger.report.style import StreamFacts
from gradledger.rules.finding import Certainty, Finding, Related, Severity
from tests.hostile.commands import OBEYED, civil, ended
from tests.report.recorded import PROGRAM, saved, stale_run

EVIL = (
    "\x1b]0;title\x07\x1b[2J\x1b[8mhidden\x9b31m\x90q\x1b]8;;http://evil\x1b\\link\u202egnp\u2066\r"
    "\n::error file=x::owned\n##[error]owned\n%0A::set-output\n</script><script>alert(1)</script>"
    "<img src=x onerror=alert(1)>\"' `x` ![i](http://evil) [l](javascript:x) @everyone | a | # h\x00\ud800"
)
FACTS = StreamFacts(cwd="/repo")


def finding() -> Finding:
    return Finding(
        "GL101",
        "stale-gradient",
        Severity.ERROR,
        Certainty.CERTAIN,
        Site(f"/project/{EVIL}.py", 3, 1, 3, 9, function=EVIL, via=EVIL),
        message=EVIL,
        detail=EVIL,
        remedy=EVIL,
        related=(Related(Site(f"/elsewhere/{EVIL}", 9), EVIL),),
    )


def answer() -> Answer:
    return Answer("runtime", (finding(),), Checked(1, 1, 1, 1), (EVIL,))


class Tags(HTMLParser):
    """The elements of a page, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "markdown"])
def test_no_form_holds_what_would_be_obeyed(form: str) -> None:
    text = renderer(form)(answer(), FACTS)
    assert not OBEYED & set(text)
    text.encode()  # no surrogate is left
    if form in ("json", "sarif"):
        assert json.loads(text)
    for line in text.splitlines():
        assert not line.lstrip().startswith(("::error file=x", "##[")), line
        assert form == "github" or not line.lstrip().startswith("::")


def test_each_finding_is_one_command_for_github() -> None:
    lines = renderer("github")(answer(), FACTS).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "audited"]
    head = re.fullmatch(r"::error ([^:]*)::.*", lines[0])
    assert head is not None
    assert sorted(part.split("=")[0] for part in head[1].split(",")) == [
        *("col", "endColumn", "endLine", "file", "line", "title")
    ]


def test_html_has_our_elements_alone() -> None:
    tags = Tags(inline(answer(), "/repo"))
    assert {"script", "img", "a"}.isdisjoint(tags.names)
    assert tags.attributes == {"class", "style"}


def test_markdown_has_no_markup_of_theirs() -> None:
    text = renderer("markdown")(answer(), FACTS)
    outside = re.sub(r"(?ms)^(`{3,}).*?^\1$", "", text)
    outside = re.sub(r"(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    assert not re.search(r"(?<!\\)<(script|img)", outside)
    assert not re.search(r"(?<!\\)!?\[[^\]]*\](?<!\\\])\(", outside)
    assert not re.search(r"(?<!\\)@everyone", outside)


@pytest.fixture
def evil_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose name and lines are evil, as far as the file system lets them."""
    name = EVIL.replace("/", "_").replace("\x00", "").replace("\ud800", "")[:120]
    monkeypatch.chdir(tmp_path)
    program = PROGRAM.replace("loss.backward()", f"loss.backward()  # {EVIL.splitlines()[0]}\u2028")
    path = tmp_path / f"{name}.py"
    path.write_text(program.replace("\x00", "").replace("\ud800", ""), newline="\n")
    return path


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_a_check_of_an_evil_file_is_shown(form: str, evil_project: Path) -> None:
    told = civil("check", "--no-cache", "--format", form, ".")
    assert told.code == 1
    assert "GL101" in told.out
    assert "\n::error file=x" not in told.out


def test_the_page_of_an_evil_recording_has_our_elements_alone(evil_project: Path, tmp_path: Path) -> None:
    names = (EVIL, "weight")
    saved(tmp_path / "run.jsonl", stale_run(evil_project, names=names))
    assert civil("report", "run.jsonl", "--output", "run.html").code == 0
    page = (tmp_path / "run.html").read_text()
    assert not OBEYED & set(page)
    tags = Tags(page)
    assert "img" not in tags.names
    assert "onerror" not in tags.attributes
    saved(tmp_path / "plain.jsonl", stale_run("train.py"))
    assert civil("report", "plain.jsonl", "--output", "plain.html").code == 0
    assert tags.names.count("script") == Tags((tmp_path / "plain.html").read_text()).names.count("script")


def test_a_diff_is_exact_for_programs_and_harmless_on_terminals(evil_project: Path) -> None:
    told = ended("check", "--no-cache", "--diff", evil_project.name)
    assert "\x1b]0;title" in told.out  # the line as it stands in the file: `patch` reads this
    headers = [line for line in told.out.split("\n") if line.startswith(("--- ", "+++ "))]
    assert len(headers) == 2
    assert not any(OBEYED & set(line) for line in headers)
    shown = on_terminal("check", "--no-cache", "--diff", evil_project.name, cwd=evil_project.parent)
    assert "loss.backward()" in shown
    assert not (OBEYED - {"\r"}) & set(re.sub(r"\x1b\[[\d;]*m", "", shown))


def on_terminal(*argv: str, cwd: Path) -> str:
    """What a terminal gets."""
    ours, theirs = pty.openpty()
    with Popen(
        [sys.executable, "-m", "gradledger", *argv], cwd=cwd, stdin=theirs, stdout=theirs, stderr=DEVNULL
    ) as process:
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux says so at the end
                break
            if not part:
                break
            parts.append(part)
        os.close(ours)
        process.wait(60)
    return b"".join(parts).decode(errors="surrogateescape")


COMMANDS = ["report", "diff", "watch", "check", "explain", "learn", "nothing", "run"]


@pytest.mark.parametrize("command", COMMANDS)
def test_errors_about_evil_arguments_are_shown(command: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = EVIL.replace("\x00", "").replace("\n", " ")
    option = f"--{''.join(name.split())}"  # with a space it would be taken for a file
    cases = [[command, name, name, option], [command, option], [command, "--output"]]
    if command == "run":  # runs whatever it is given
        cases = [[command, option, "x.py"], [command, "--select", name, "x.py"]]
    for argv in cases if command != "nothing" else [[name]]:
        told = ended(*argv)
        assert told.code == 2, told
        assert not OBEYED & {*told.out, *told.err}, told
        assert "Traceback" not in told.err
        told.err.encode()


def test_the_last_place_lets_colours_pass_and_nothing_else() -> None:
    ours = "\x1b[1;31merror\x1b[0m \x1b[38;5;12mblue\x1b[38;2;1;2;3m\tx\n"
    assert neutral(ours) == ours
    for evil in ("[8mx", "[5m", "[7m", "[2J", "]0;t\x07", "", "[1;8m", "[m\x9b1m", "[0m\r", "[0m\u202e"):
        assert not OBEYED & set(neutral(f"a\x1b{evil}b").replace("\x1b[0m", "").replace("\x1b[m", ""))
    assert neutral("grün │ ◄ 日本") == "grün │ ◄ 日本"


def test_what_slips_through_is_neutral_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    emit(f"{EVIL}\n", sys.stdout)
    assert not OBEYED & set(capsys.readouterr().out)
