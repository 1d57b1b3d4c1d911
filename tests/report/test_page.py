from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gradledger.report.page.build import page
from gradledger.report.replay.retelling import retell
from gradledger.rules.finding import Edit, Fix
from tests.report.recorded import PROGRAM, detailed_run, right_run, stale_run

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Tree(HTMLParser):
    """Fails where a tag is not closed in its turn, and remembers what there is."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, attrs)
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            key = self.open[-1]
            self.texts[key] = self.texts.get(key, "") + data


@pytest.fixture
def train(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def built(events, cwd: Path) -> str:
    told = retell(events, str(cwd))
    return page(told, told.answer, "train.py", str(cwd))


def test_the_page_is_correct_and_says_what_is_wrong(train: Path) -> None:
    text = built(stale_run(train), train.parent)
    tree = Tree(text)
    assert "The updates are not what the code says" in tree.texts["h1"]
    assert "GL101" in text
    assert "adds to gradients that the step at line 8 has already applied" in text
    assert "loss.backward()" in text
    assert "What is wrong" in text
    assert 'data-at="2"' in text
    ids = [attributes["id"] for _, attributes in tree.seen if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in tree.seen:
        for reference in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(reference, ids[0]) in ids


def test_a_right_run_is_praised(train: Path) -> None:
    text = built(right_run(train), train.parent)
    assert "The books balance" in Tree(text).texts["h1"]
    assert '<article class="finding' not in text


def test_nothing_trained(train: Path) -> None:
    assert "Nothing was trained" in built([], train.parent)


def test_the_policy_allows_these_two_and_nothing_else(train: Path) -> None:
    text = built(detailed_run(train), train.parent)
    tree = Tree(text)
    policy = next(a["content"] for t, a in tree.seen if a.get("http-equiv") == "Content-Security-Policy")
    style = re.search(r"<style>(.*?)</style>", text, re.S)[1]
    script = re.search(r"<script>(.*?)</script>", text, re.S)[1]
    for kind, content in (("style", style), ("script", script)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    attributes = {name for _, given in tree.seen for name in given}
    assert not attributes & {"style", "src", "onclick", "onload", "srcset", "action"}
    assert all(given["href"].startswith("#") for _, given in tree.seen if "href" in given)
    assert "http" not in re.sub(r"http-equiv|http://www\.w3\.org/2000/svg", "", text)


def test_hostile_names_and_source_stay_text(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m"
    path = tmp_path / "<img src=x onerror=alert(3)>.py"
    path.write_text(PROGRAM.replace("loss.backward()", f"loss.backward()  # {evil}"))
    text = built(stale_run(path, names=(evil, "bias")), tmp_path)
    tree = Tree(text)
    assert [tag for tag, _ in tree.seen].count("script") == 2
    assert "img" not in {tag for tag, _ in tree.seen}
    assert "\x1b" not in text
    assert "\u202e" not in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
    assert data["timeline"]["rows"][0]["names"][0].startswith("</script><script>alert(1)")


def test_a_repair_is_shown_as_a_diff(train: Path) -> None:
    from gradledger.ledger.record import replace

    told = retell(stale_run(train), str(train.parent))
    edit = Edit(str(train), (7, 1), (7, 1), "    optimizer.zero_grad()\n")
    found = replace(told.answer.findings[0], fix=Fix("clear first", (edit,)))
    text = page(told, replace(told.answer, findings=(found,)), "train.py", str(train.parent))
    assert '<span class="added">+    optimizer.zero_grad()</span>' in text
    Tree(text)


@pytest.mark.parametrize("run", [stale_run, right_run, detailed_run])
def test_ten_thousand_steps_are_under_600_kilobytes(run, train: Path) -> None:
    assert len(built(run(train, 10_000), train.parent).encode()) < 600_000
