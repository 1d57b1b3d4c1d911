"""Under torchrun one process speaks for all."""

import os
import signal
import subprocess
import sys

import pytest

from gradledger.audit.answer import Answer, Checked
from gradledger.host.mailbox import Mailbox
from gradledger.host.ranks import Ranks, local_ranks
from tests.host.harness import audited_command, environment, script, taken_apart

BASE = {"TORCHELASTIC_RUN_ID": "none", "MASTER_PORT": "29500", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}


def of_rank(rank, folder, **more):
    return environment(**BASE, RANK=str(rank), LOCAL_RANK=str(rank), TMPDIR=str(folder / "tmp"), **more)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tmp").mkdir()
    yield tmp_path
    assert list((tmp_path / "tmp").iterdir()) == []


def start(folder, rank, **more):
    command = audited_command("train.py")
    return subprocess.Popen(
        command, cwd=folder, env=of_rank(rank, folder, **more), stdout=-1, stderr=-1, stdin=-1
    )


def end(process):
    out, err = process.communicate(timeout=60)
    return taken_apart(process.returncode, out, err)


TRAIN = """
import os, sys, torch
rank = int(os.environ["RANK"])
for _ in range(rank + 1):
    torch.backward()
print("ready", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("first", [0, 1])
def test_rank_zero_reports_for_both_whoever_ends_first(folder, first):
    script(folder, TRAIN)
    processes = [start(folder, rank) for rank in range(2)]
    for process in processes:
        process.stdout.readline()
    for rank in (first, 1 - first):
        processes[rank].stdin.close()
        processes[rank].stdin = None
    zero, one = map(end, processes)
    assert (one.status, one.reports) == (0, ())
    assert (zero.status, zero.concluded_with) == (1, 0)
    assert zero.answer.checked == Checked(backwards=3, processes=2)
    assert [finding.ranks for finding in zero.answer.findings] == [(0, 1)]
    assert zero.answer.notes == ()


def test_a_rank_that_crashes_is_heard(folder):
    script(folder, TRAIN + "if rank: 1 / 0\n")
    processes = [start(folder, rank) for rank in range(2)]
    zero, one = [end(process) for process in reversed(processes)][::-1]
    assert (one.status, one.reports) == (1, ())
    assert b"ZeroDivisionError" in one.err
    assert zero.answer.checked.backwards == 3
    assert zero.answer.notes == ("ended by ZeroDivisionError",)


def test_a_rank_that_is_killed_is_named(folder):
    script(folder, TRAIN)
    processes = [start(folder, rank) for rank in range(2)]
    for process in processes:
        process.stdout.readline()
    processes[1].kill()
    processes[1].communicate()
    zero = end(processes[0])
    assert zero.answer.checked.backwards == 1
    assert zero.answer.notes == ("rank 1 gave no answer, or not in time",)


def test_waiting_has_an_end(folder):
    script(folder, TRAIN)
    processes = [start(folder, 0, GRADLEDGER_RANK_TIMEOUT="0"), start(folder, 1)]
    for process in processes:
        process.stdout.readline()
    zero = end(processes[0])
    assert zero.answer.notes == ("rank 1 gave no answer, or not in time",)
    assert end(processes[1]).status == 0


def test_terminated_ranks_answer_once(folder):
    script(folder, TRAIN)
    processes = [start(folder, rank) for rank in range(2)]
    for process in processes:
        process.stdout.readline()
        process.terminate()
    zero, one = map(end, processes)
    assert (zero.status, one.status) == (-signal.SIGTERM, -signal.SIGTERM)
    assert one.reports == ()
    assert zero.answer.checked.backwards == 3


def test_terminated_while_waiting_for_the_others(folder):
    script(folder, TRAIN + "import atexit\nif not rank: atexit.register(lambda: os.write(1, b'over'))\n")
    processes = [start(folder, rank) for rank in range(2)]
    for process in processes:
        process.stdout.readline()
    processes[0].stdin.close()
    processes[0].stdin = None
    assert processes[0].stdout.read(4) == b"over"
    for process in processes:
        process.terminate()
    zero, one = map(end, processes)
    assert (zero.status, one.status) == (-signal.SIGTERM, -signal.SIGTERM)
    assert zero.answer.checked.backwards == 3


def test_recordings_of_other_ranks_have_the_rank_in_their_name(folder):
    script(folder, TRAIN)
    processes = [start(folder, rank, FAKE_SAVE="run.jsonl") for rank in range(2)]
    zero, _ = [end(process) for process in reversed(processes)][::-1]
    names = ("run.jsonl", "run.rank1.jsonl")
    assert zero.answer.notes == tuple(f"saved as {folder / name}" for name in names)


def test_where_the_ranks_meet(tmp_path):
    environ = {**BASE, "RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}
    ranks = local_ranks(environ)
    assert (ranks.rank, ranks.local, ranks.first, ranks.reports, ranks.timeout) == (5, 1, 4, False, 30.0)
    assert ranks.box.path == local_ranks({**environ, "LOCAL_RANK": "0", "RANK": "4"}).box.path
    for name in ("TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"):
        assert local_ranks({**environ, name: "other"}).box.path != ranks.box.path
    assert local_ranks({**environ, "GRADLEDGER_RANK_TIMEOUT": "2.5"}).timeout == 2.5
    for nonsense in ("", "-1", "inf", "nan", "soon"):
        assert local_ranks({**environ, "GRADLEDGER_RANK_TIMEOUT": nonsense}).timeout == 30.0


@pytest.mark.parametrize(
    "change",
    [
        {"WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "RANK": "0", "LOCAL_RANK": "0"},
        {"RANK": ""},
        {"LOCAL_RANK": "x"},
        {"LOCAL_RANK": "9"},
    ],
)
def test_no_ranks(change):
    assert local_ranks({**BASE, "RANK": "1", "LOCAL_RANK": "1", **change}) is None


def test_no_ranks_without_torchrun():
    environ = {**BASE, "RANK": "1", "LOCAL_RANK": "1"}
    del environ["TORCHELASTIC_RUN_ID"]
    assert local_ranks(environ) is None


def test_a_meeting_place_of_others_is_refused(tmp_path):
    place = tmp_path / "box"
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    assert not Mailbox(place).open()
    link = tmp_path / "link"
    (tmp_path / "mine").mkdir(mode=0o700)
    link.symlink_to(tmp_path / "mine")
    assert not Mailbox(link).open()
    (tmp_path / "file").touch(mode=0o600)
    assert not Mailbox(tmp_path / "file").open()
    assert not Mailbox(tmp_path / "no" / "parent").open()
    assert Mailbox(tmp_path / "mine").open()
    assert not Ranks(1, 1, 2, 2, Mailbox(place)).announce()
    assert list(place.iterdir()) == []


def test_a_meeting_place_is_private_and_keeps_answers(tmp_path):
    box = Mailbox(tmp_path / "box")
    assert box.open()
    assert box.path.stat().st_mode & 0o777 == 0o700
    answer = Answer("runtime", (), Checked(backwards=3), ("é",))
    box.deliver("b", answer)
    (box.path / "a.json").write_text("{half")
    assert box.fetch("b") == answer
    assert box.fetch("a") is None
    assert box.collect() == [answer]
    box.discard()
    assert not box.path.exists()
    box.deliver("late", answer)
    assert not box.path.exists()
    assert box.collect() == []


@pytest.mark.distributed
@pytest.mark.parametrize("crash", [False, True])
def test_torchrun(folder, crash):
    source = f"""
        import os, sys, torch
        import torch.distributed as dist
        dist.init_process_group("gloo")
        weight = torch.ones(2, requires_grad=True)
        for _ in range(dist.get_rank() + 1):
            weight.sum().backward()
        dist.barrier()
        if {crash} and dist.get_rank() == 1:
            raise ValueError("rank 1 is ill")
        dist.barrier()
        dist.destroy_process_group()
        print("done")
    """
    script(folder, source)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
    env = environment(stub=False, TMPDIR=str(folder / "tmp"))
    done = subprocess.run(
        [*command, *audited_command("train.py")[1:]],
        cwd=folder,
        env=env,
        capture_output=True,
        timeout=120,
        check=False,
    )
    got = taken_apart(done.returncode, done.stdout, done.stderr)
    assert got.status == 1
    assert got.answer.checked == Checked(backwards=3, processes=2)
    assert [finding.ranks for finding in got.answer.findings] == [(0, 1)]
    assert got.out.count(b"done") == (0 if crash else 2)
    for left in (folder / "tmp").glob("torchelastic_*"):  # torchrun's own
        for path in sorted(left.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        left.rmdir()
    assert os.listdir(folder / "tmp") == []
