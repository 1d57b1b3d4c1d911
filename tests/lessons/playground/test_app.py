"""The server: what it refuses, what it runs, what it keeps."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from gradledger.lessons import catalogue
from gradledger.lessons.playground.loading import NAMES
from gradledger.lessons.playground.presets import PRESETS
from gradledger.lessons.playground.setup import written
from gradledger.lessons.quiz import questions
from tests.lessons.playground.served import Served, served

RIGHT = written(PRESETS[0].setup)
LONG = written(PRESETS[0].setup) | {"batches": 24, "epochs": 4}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("data")) as one:
        yield one


def page(running: Served, path: str) -> str:
    status, headers, body = running.ask("GET", path)
    assert status == 200, (path, body)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    return body.decode()


def test_the_server_needs_no_torch_itself() -> None:
    code = "import sys, gradledger.lessons.playground.app\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_page_is_there_and_loads_nothing_from_elsewhere(running: Served) -> None:
    paths = ["learn", "myths", "quiz", "glossary", "playground"]
    paths += [f"learn/lesson/{lesson.id}" for lesson in catalogue.lessons()]
    paths += [f"quiz/{lesson.id}" for lesson in catalogue.lessons()]
    for path in paths:
        html = page(running, path)
        assert re.findall(r'(?:src|href)="(?:https?:)?//', html) == [], path
        assert "<h1" in html
        assert "style=" not in html
        for name in re.findall(r"/assets/([\w.]+)", html):
            assert name in NAMES


def test_a_lesson_is_whole_and_has_a_blank_for_every_value(running: Served) -> None:
    for lesson in catalogue.lessons():
        html = page(running, f"learn/lesson/{lesson.id}")
        blanks = sum(len(getattr(part, "fields", ())) for part in lesson.parts)
        assert len(re.findall("data-blank=", html)) == blanks
        assert "\ue000" not in html
        assert "&lt;!--" not in html


def test_pages_tell_of_the_ways_that_need_a_terminal_and_of_scaffolding(running: Served) -> None:
    overview = running.ask("GET", "learn")[2].decode()
    for command in ("repair LESSON", "trace LESSON", "recall", "measure"):
        assert f"<code>gradledger learn {command}</code>" in overview
    page = running.ask("GET", "learn/lesson/l07")[2].decode()
    assert "<code>gradledger learn repair 7</code>" in page
    assert re.findall(r"<summary>where (.*?)</summary>", page) == [
        "<code>_data</code>",
        "<code>_train</code>",
    ]


def test_the_assets_are_there_and_nothing_else_is(running: Served) -> None:
    for name in NAMES:
        status, headers, body = running.ask("GET", f"assets/{name}")
        assert status == 200
        assert body
        assert headers["x-content-type-options"] == "nosniff"
    for name in ("loop.py", "..%2fapp.py", "playground.html", "nothing.js"):
        assert running.ask("GET", f"assets/{name}")[0] == 404
    assert running.ask("GET", "learn/lesson/l99")[0] == 404
    assert running.ask("GET", "quiz/l99")[0] == 404


def test_a_run_answers_with_the_rule_and_its_lesson(running: Served) -> None:
    inside = next(preset for preset in PRESETS if preset.name == "zero-inside")
    status, told = running.post("run", {"setup": written(inside.setup)})
    assert status == 200
    (finding,) = told["findings"]
    assert finding["code"] == "GL103"
    assert finding["lesson"]["id"] == "l07"
    assert len(told["lines"]) == len(told["program"].splitlines())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"setup": RIGHT | {"lanes": {"batch": ["os.system"]}}}, "there is no block 'os.system'"),
        ({"setup": RIGHT | {"program": "import os"}}, "there is no setting 'program'"),
        ({"setup": RIGHT | {"every": 10**6}}, "from 1 to 8"),
        ({}, "a set-up is an object"),
        ([], "not a JSON object"),
    ],
)
def test_unknown_blocks_are_refused_with_a_reason(running: Served, data: object, reason: str) -> None:
    status, told = running.post("run", data)
    assert status == 400
    assert reason in told["reason"]


def test_what_is_no_json_is_refused(running: Served) -> None:
    assert running.ask("POST", "api/run", b"{", {"content-type": "application/json"})[0] == 400
    assert running.ask("POST", "api/run", b"{}", {"content-type": "text/plain"})[0] == 400
    assert running.ask("GET", "api/run")[0] == 405


def test_oversized_requests_are_refused(running: Served) -> None:
    status, _ = running.post("run", {"setup": RIGHT, "more": "x" * 20_000})
    assert status == 413


def test_other_origins_and_hosts_are_refused(running: Served) -> None:
    ours = {"content-type": "application/json"}
    body = json.dumps({"setup": RIGHT}).encode()
    assert running.ask("POST", "api/run", body, ours | {"origin": "http://evil.example"})[0] == 403
    assert running.ask("POST", "api/run", body, ours | {"sec-fetch-site": "cross-site"})[0] == 403
    assert running.ask("GET", "playground", None, {"host": "evil.example"})[0] == 421
    with socket.create_connection(("127.0.0.1", running.server.port)) as line:
        line.sendall(f"GET /learn HTTP/1.1\r\nHost: 127.0.0.1:{running.server.port}\r\n\r\n".encode())
        assert b" 404 " in line.recv(200)  # without the token


def test_a_broken_link_is_said_on_the_page(running: Served) -> None:
    html = page(running, "playground?loop=--q--")
    assert "The link could not be used: there is no block with the letter" in html


def test_more_than_a_few_runs_at_a_time_are_refused(running: Served) -> None:
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda: statuses.append(running.post("run", {"setup": LONG})[0]))
        for _ in range(9)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses.count(200) >= 3
    assert statuses.count(429) == 9 - statuses.count(200) > 0
    assert running.post("run", {"setup": RIGHT})[0] == 200


def test_a_run_that_nobody_waits_for_ends(running: Served) -> None:
    body = json.dumps({"setup": LONG}).encode()
    head = (
        f"POST /{running.server.token}/api/run HTTP/1.1\r\nHost: 127.0.0.1:{running.server.port}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    seen = threading.Event()
    real = running.workshop._send

    def watched(message: dict) -> None:
        real(message)
        if message.get("kind") == "trial":
            leaving.close()
        if "cancel" in message:
            seen.set()

    leaving = socket.create_connection(("127.0.0.1", running.server.port))
    running.workshop._send = watched  # type: ignore[method-assign]
    try:
        leaving.sendall(head.encode() + body)
        assert seen.wait(30)
    finally:
        del running.workshop._send
    assert running.post("run", {"setup": RIGHT})[0] == 200


def test_an_exhibit_fills_blanks_plots_and_predictions(running: Served) -> None:
    asked = {"owner": "l07", "name": "at_every_micro_batch"}
    status, told = running.post("exhibit", asked)
    assert status == 200
    assert "update 1:" in told["printed"]
    assert "75%" in told["blanks"].values()
    (number,) = told["predictions"]
    assert told["predictions"][number] == {"right": None, "is": "0.25"}
    _, right = running.post("exhibit", asked | {"said": {number: "1/4"}})
    assert right["predictions"][number]["right"] is True
    _, wrong = running.post("exhibit", asked | {"said": {number: "1"}})
    assert wrong["predictions"][number]["right"] is False
    _, drawn = running.post("exhibit", {"owner": "l07", "name": "training"})
    assert all("<svg" in svg and "<script" not in svg for svg in drawn["plots"].values())
    assert drawn["plots"]


def test_only_exhibits_of_the_course_run(running: Served) -> None:
    for asked in (
        {"owner": "l99", "name": "right"},
        {"owner": "../..", "name": "x"},
        {"owner": 3, "name": "x"},
    ):
        assert running.post("exhibit", asked)[0] == 400
    for name in ("_reference", "nothing", "__import__"):
        assert running.post("exhibit", {"owner": "l07", "name": name})[0] == 400


def test_the_quiz_keeps_its_score_where_the_terminal_does(running: Served) -> None:
    lesson = catalogue.lesson("l07")
    found = questions(lesson.folder)
    answers: dict[str, str] = {}
    for number, question in enumerate(found):
        wrong = next(option.key for option in question.options if option.key != question.answer)
        answers[question.id] = wrong if number == 0 else question.answer
        status, told = running.post("quiz", {"lesson": "l07", "latest": question.id, "answers": answers})
        assert status == 200
        assert told["right"] is (number != 0)
        assert len(told["whys"]) == len(question.options)
    kept = running.store.read()
    assert (kept.quizzes["l07"].right, kept.quizzes["l07"].of) == (len(found) - 1, len(found))
    assert f"l07.{found[0].id}" in kept.cards
    bad = {"lesson": "l07", "latest": found[0].id, "answers": {found[0].id: "zz"}}
    assert running.post("quiz", bad)[0] == 400
    html = page(running, "quiz/l07")
    assert found[0].right.why not in html  # nothing in the page gives the answer away


def test_a_lesson_is_marked_as_read(running: Served) -> None:
    assert running.post("read", {"lesson": "l07", "done": True}) == (200, {"done": True})
    assert running.store.read().places["l07"].done
    assert "read" in page(running, "learn")
