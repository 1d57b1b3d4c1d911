"""Every process that trains is heard, and the others cost and say nothing."""

import sys

import pytest

from tests.host.harness import audited, environment, plain, same, script


def test_a_forked_child_that_runs_on_does_not_report(tmp_path):
    source = """
        import os, sys
        child = os.fork()
        if child:
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        else:
            sys.exit(4)
    """
    same(tmp_path, source)


@pytest.mark.parametrize(
    "ending", ["pass", "os._exit(0)", "sys.exit()", "os.kill(os.getpid(), 15); signal.pause()"]
)
def test_a_forked_child_that_trains_is_heard(tmp_path, ending):
    source = f"""
import os, signal, sys, torch
torch.backward()
if os.fork():
    os.wait()
else:
    torch.backward()
    torch.backward()
    {ending}
"""
    script(tmp_path, source)
    got = audited(tmp_path, "train.py")
    assert got.answer.checked.backwards == 3
    assert got.answer.checked.processes == 2
    assert [finding.count for finding in got.answer.findings] == [2]
    assert got.status == 1


def test_a_forked_child_crashes_with_its_own_traceback(tmp_path):
    source = """
        import os
        child = os.fork()
        if child:
            os.wait()
        else:
            1 / 0
    """
    same(tmp_path, source)


def test_torch_imported_only_in_the_fork(tmp_path):
    source = """
        import os
        if os.fork():
            os.wait()
        else:
            import torch
            torch.backward()
    """
    script(tmp_path, source)
    got = audited(tmp_path, "train.py")
    assert (got.answer.checked.backwards, got.answer.checked.processes) == (1, 1)


@pytest.mark.parametrize("thread", [False, True])
def test_a_newborn_can_be_terminated(tmp_path, thread):
    source = f"""
        import os, signal, threading

        def main():
            for _ in range(100):
                child = os.fork()
                if not child:
                    signal.pause()
                    os._exit(0)
                os.kill(child, signal.SIGTERM)
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            print(signal.pthread_sigmask(signal.SIG_BLOCK, []))

        if {thread}:
            threading.Thread(target=main).start()
        else:
            main()
    """
    same(tmp_path, source)


def test_a_worker_that_does_not_train_has_the_default_action(tmp_path):
    source = """
        import multiprocessing as mp, _signal
        import torch

        def work():
            print(_signal.getsignal(_signal.SIGTERM), flush=True)
            torch.backward()
            print(_signal.getsignal(_signal.SIGTERM) == _signal.SIG_DFL, flush=True)

        if __name__ == "__main__":
            for method in ("fork", "spawn", "forkserver"):
                process = mp.get_context(method).Process(target=work)
                process.start()
                process.join()
    """
    script(tmp_path, source)
    assert audited(tmp_path, "train.py").out == b"0\nFalse\n" * 3


TRAINING = """
import multiprocessing as mp, os, sys
import torch

def train(rank, ready=None):
    for _ in range(rank + 1):
        torch.backward()
    print("trained", rank, sys.modules["__main__"].__name__, flush=True)

if __name__ == "__main__":
    context = mp.get_context(sys.argv[1])
    for rank in range(2):
        process = context.Process(target=train, args=(rank,))
        process.start()
        process.join()
        print(process.exitcode, flush=True)
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_of_multiprocessing(tmp_path, method):
    script(tmp_path, TRAINING)
    got = audited(tmp_path, "train.py", method)
    expected = plain(tmp_path, "train.py", method)
    assert (got.out, got.err) == (expected.out, expected.err)
    assert got.status == 1
    assert got.answer.checked.backwards == 3
    assert got.answer.checked.processes == 2
    assert [finding.ranks for finding in got.answer.findings] == [(0, 1)]


def test_children_of_a_module(tmp_path):
    script(tmp_path, "", "package/__init__.py")
    script(tmp_path, TRAINING, "package/train.py")
    got = audited(tmp_path, "-m", "package.train", "spawn")
    assert got.out == plain(tmp_path, "-m", "package.train", "spawn").out
    assert got.answer.checked.backwards == 3


def test_children_that_are_not_joined_by_the_script(tmp_path):
    script(
        tmp_path,
        TRAINING.replace("process.join()", "pass").replace("print(process.exitcode, flush=True)", ""),
    )
    assert audited(tmp_path, "train.py", "spawn").answer.checked.backwards == 3


def test_ranks_that_the_children_name_themselves(tmp_path):
    source = TRAINING.replace(
        "def train(rank, ready=None):", "def train(rank):\n    os.environ['RANK'] = str(rank + 4)"
    )
    script(tmp_path, source)
    (finding,) = audited(tmp_path, "train.py", "spawn").answer.findings
    assert finding.ranks == (4, 5)
    # A rank that the parent has as well says nothing about the children.
    script(tmp_path, TRAINING)
    (finding,) = audited(tmp_path, "train.py", "spawn", env=environment(RANK="3")).answer.findings
    assert finding.ranks == (0, 1)


def test_one_child_is_no_rank(tmp_path):
    script(tmp_path, TRAINING.replace("range(2)", "range(1)"))
    got = audited(tmp_path, "train.py", "spawn")
    assert [finding.ranks for finding in got.answer.findings] == [()]
    assert got.answer.checked.processes == 1


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_what_ended_a_child_is_known(tmp_path, method):
    source = TRAINING.replace("def train(rank, ready=None):", "def train(rank):\n    torch.backward(); 1 / 0")
    script(tmp_path, source)
    got = audited(tmp_path, "train.py", method)
    if sys.version_info < (3, 13):  # from then on multiprocessing handles the error before anybody can look
        assert got.answer.notes == ("ended by ZeroDivisionError",)
    assert got.err == plain(tmp_path, "train.py", method).err


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_grandchildren(tmp_path, method):
    source = """
        import multiprocessing as mp, sys
        import torch

        def train(depth):
            torch.backward()
            if depth:
                process = mp.Process(target=train, args=(depth - 1,))
                process.start()
                process.join()

        if __name__ == "__main__":
            mp.set_start_method(sys.argv[1])
            train(2)
    """
    script(tmp_path, source)
    got = audited(tmp_path, "train.py", method)
    assert (got.answer.checked.backwards, got.answer.checked.processes) == (3, 3)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools(tmp_path, method):
    source = """
        import multiprocessing as mp, sys
        import torch
        from concurrent.futures import ProcessPoolExecutor

        def work(n):
            torch.backward()
            return n * n

        if __name__ == "__main__":
            context = mp.get_context(sys.argv[1])
            with context.Pool(2) as pool:
                print(pool.map(work, range(6)))
            with ProcessPoolExecutor(2, mp_context=context) as pool:
                print(list(pool.map(work, range(6))))
    """
    script(tmp_path, source)
    got = audited(tmp_path, "train.py", method)
    expected = plain(tmp_path, "train.py", method)
    assert (got.out, got.err) == (expected.out, expected.err)
    # The workers of a pool are terminated, mostly while they wait; executors let theirs end.
    assert 6 <= got.answer.checked.backwards <= 12


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_terminated_child_still_answers(tmp_path, method):
    source = """
        import multiprocessing as mp, signal, sys
        import torch

        def train(ready):
            torch.backward()
            ready.set()
            signal.pause()

        if __name__ == "__main__":
            context = mp.get_context(sys.argv[1])
            ready = context.Event()
            process = context.Process(target=train, args=(ready,), daemon=True)
            process.start()
            ready.wait()
            process.terminate()
            process.join()
            print(process.exitcode)
    """
    script(tmp_path, source)
    got = audited(tmp_path, "train.py", method)
    assert got.out == b"-15\n"
    assert got.answer.checked.backwards == 1


def test_a_killed_child_gives_no_answer_and_no_trouble(tmp_path):
    source = """
        import multiprocessing as mp, os, signal
        import torch

        def train():
            torch.backward()
            os.kill(os.getpid(), signal.SIGKILL)

        if __name__ == "__main__":
            process = mp.get_context("spawn").Process(target=train)
            process.start()
            process.join()
            print(process.exitcode)
    """
    got = same(tmp_path, source)
    assert got.answer.checked.backwards == 0


def test_a_child_that_cannot_import_gradledger_lives(tmp_path):
    source = """
        import multiprocessing as mp, sys

        def work():
            print("worked")

        if __name__ == "__main__":
            context = mp.get_context("spawn")
            import os
            os.environ["PYTHONPATH"] = os.getcwd()
            process = context.Process(target=work)
            process.start()
            process.join()
            print(process.exitcode)
    """
    script(tmp_path, "raise RuntimeError('not the one you think')", "gradledger.py")
    got = same(tmp_path, source)
    assert got.out == b"worked\n0\n"


def test_recordings_of_children_have_their_own_names(tmp_path):
    script(tmp_path, TRAINING)
    got = audited(tmp_path, "train.py", "spawn", env=environment(FAKE_SAVE="run.jsonl"))
    names = [f"saved as {tmp_path / f'run.{name}.jsonl'}" for name in ("child000000", "child000001")]
    assert got.answer.notes == (f"saved as {tmp_path / 'run.jsonl'}", *names)


def test_forkserver_and_spawn_are_left_as_they_were(tmp_path):
    source = """
        import inspect, multiprocessing.spawn as spawn
        print(spawn.get_preparation_data.__name__, inspect.signature(spawn.get_preparation_data))
        print(spawn.get_preparation_data.__doc__)
    """
    same(tmp_path, source)


def test_workers_of_a_data_loader(tmp_path):
    source = """
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        if __name__ == "__main__":
            model = torch.nn.Linear(3, 1)
            data = TensorDataset(torch.ones(8, 3), torch.ones(8, 1))
            for method in ("fork", "spawn"):
                loader = DataLoader(data, batch_size=4, num_workers=2, multiprocessing_context=method)
                for x, y in loader:
                    (model(x) - y).square().mean().backward()
            print(model.weight.grad is not None)
    """
    env = environment(stub=False)
    script(tmp_path, source)
    got = audited(tmp_path, "train.py", env=env)
    assert (got.out, got.err) == (b"True\n", b"")
    assert (got.answer.checked.backwards, got.answer.checked.processes) == (4, 1)
    assert got.answer.findings[0].ranks == ()


def test_spawn_of_torch(tmp_path):
    source = """
        import torch
        import torch.multiprocessing as mp

        def train(rank, steps):
            weight = torch.ones(2, requires_grad=True)
            for _ in range(steps + rank):
                weight.sum().backward()

        if __name__ == "__main__":
            mp.spawn(train, args=(3,), nprocs=2)
    """
    script(tmp_path, source)
    got = audited(tmp_path, "train.py", env=environment(stub=False))
    assert got.err == b""
    assert (got.answer.checked.backwards, got.answer.checked.processes) == (7, 2)
    (finding,) = got.answer.findings
    assert (finding.ranks, finding.count) == ((0, 1), 4)
