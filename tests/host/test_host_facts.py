"""The program finds itself in the same surroundings as under plain Python."""

import sys
import zipfile

import pytest

from tests.host.harness import audited, environment, plain, same, script

FACTS = '''
"""A docstring."""
import os, sys
count: int = 1
here = globals()
facts = {
    name: value if isinstance(value, (str, dict, type(None))) else type(value).__name__
    for name, value in list(here.items())
    if name.startswith("__")
}
print(list(here))
print(facts)
print(getattr(__loader__, "name", None), getattr(__loader__, "path", None))
spec = __spec__
print(spec and (spec.name, spec.origin, spec.parent, spec.cached, spec.loader is __loader__))
print(__builtins__ is sys.modules["builtins"], sys.modules["__main__"].__dict__ is here)
print(sys.argv, sys.path, os.getcwd(), sys.flags, sys.getrecursionlimit())
print(sys._getframe().f_code.co_filename, __name__ == "__main__")
print("torch" in sys.modules, "multiprocessing" in sys.modules, "tempfile" in sys.modules)
'''


def facts_agree(folder, *words):
    expected, got = plain(folder, *words), audited(folder, *words)
    assert expected.status == 0
    assert expected.err == b""
    assert got.out == expected.out
    assert (got.err, got.status) == (b"", 0)
    assert got.answer.checked.backwards == 0


@pytest.mark.parametrize(
    "words",
    [
        ("train.py",),
        ("./train.py", "--epochs", "3", "-m", "x", ""),
        ("sub/../train.py",),
        ("sub/link.py",),
        ("folder", "a"),
        ("./folder/",),
        ("app.zip", "b"),
        ("no_suffix",),
        ("train.pyc",),
        ("-m", "package", "--flag"),
        ("-m", "package.inner.module", "a", "b"),
        ("-m", "train", "a"),
    ],
    ids=" ".join,
)
def test_facts(tmp_path, words):
    script(tmp_path, FACTS)
    script(tmp_path, FACTS, "no_suffix")
    script(tmp_path, FACTS, "folder/__main__.py")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "link.py").symlink_to("../train.py")
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("__main__.py", FACTS)
    script(tmp_path, "name = 'the package'", "package/__init__.py")
    script(tmp_path, FACTS + "from . import name; print(name)", "package/__main__.py")
    script(tmp_path, "", "package/inner/__init__.py")
    script(tmp_path, FACTS + "from .. import name; print(name)", "package/inner/module.py")
    if words[0].endswith(".pyc"):
        plain(tmp_path, "-c", "import py_compile; py_compile.compile('train.py', 'train.pyc', doraise=True)")
    facts_agree(tmp_path, *words)


def test_an_absolute_path_from_another_directory(tmp_path):
    path = script(tmp_path / "there", FACTS)
    (tmp_path / "here").mkdir()
    facts_agree(tmp_path / "here", str(path))


def test_files_beside_the_script_are_imported(tmp_path):
    script(tmp_path, "value = 5", "lib/beside.py")
    script(tmp_path, "import beside; print(beside.value, beside.__file__)", "lib/train.py")
    facts_agree(tmp_path, "lib/train.py")


def test_standard_input_and_output(tmp_path):
    source = """
        import sys
        print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stdout.encoding, sys.stdout.line_buffering)
        print(input(), sys.stdin.buffer.read())
        sys.stdout.write("no newline at the end")
    """
    got = same(tmp_path, source, given=b"first\n\xff\x00rest")
    assert got.out.endswith(b"no newline at the end")


def test_output_order_with_the_report(tmp_path):
    source = """
        import atexit, sys
        atexit.register(lambda: print("exit handler", flush=False))
        print("body")
    """
    script(tmp_path, source)
    import subprocess

    from tests.host.harness import audited_command

    done = subprocess.run(
        audited_command("train.py"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
    )
    body, exit_handler, report = done.stdout.splitlines()
    assert (body, exit_handler, report[:1]) == (b"body", b"exit handler", b"\x1e")


def test_pickling_dataclasses_and_source(tmp_path):
    source = """
        from __future__ import annotations
        import dataclasses, inspect, pickle, typing, sys

        @dataclasses.dataclass
        class Batch:
            x: int
            y: list[int] = dataclasses.field(default_factory=list)

        def double(n: int) -> int:
            return 2 * n

        print(pickle.loads(pickle.dumps(Batch(3))), pickle.loads(pickle.dumps(double)) is double)
        print(typing.get_type_hints(Batch), inspect.getsource(double), inspect.getfile(Batch))
        print(inspect.getsource(sys.modules["__main__"]) == open(__file__).read())
    """
    same(tmp_path, source)


def test_warnings_have_the_same_text(tmp_path):
    source = r"""
        import warnings
        def old():
            warnings.warn("old", DeprecationWarning, stacklevel=2)
        for _ in range(3):
            old()
        warnings.warn("user")
        warnings.warn("pending", PendingDeprecationWarning)
        print(sorted(__warningregistry__, key=str), "\d", 1 is 1)
        print(warnings.filters)
    """
    got = same(tmp_path, source)
    assert got.err.count(b"DeprecationWarning: old") == 1


def test_encoding_declarations(tmp_path):
    path = tmp_path / "train.py"
    path.write_bytes(b"# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))\n")
    assert audited(tmp_path, "train.py").out == plain(tmp_path, "train.py").out == b"'\\xe9'\n"
    path.write_bytes(b"\xef\xbb\xbfprint('marked')\n")
    assert audited(tmp_path, "train.py").out == b"marked\n"
    path.write_bytes(b"print('one')\r\nprint('''a\r\nb''')\r\n")
    assert audited(tmp_path, "train.py").out == plain(tmp_path, "train.py").out


def test_our_future_imports_do_not_reach_the_script(tmp_path):
    same(tmp_path, "def f(x: 1 + 1): pass\nprint(f.__annotations__)\n")


def test_torch_is_imported_by_the_script_and_not_before(tmp_path):
    source = """
        import os, sys
        print("torch" in sys.modules)
        os.environ["STUB_SETTING"] = "chosen"
        import torch
        print(torch.imported_with, torch.__spec__.loader is torch.__loader__)
        torch.backward()
    """
    script(tmp_path, source)
    got = audited(tmp_path, "train.py")
    assert got.out == plain(tmp_path, "train.py").out == b"False\nchosen True\n"
    assert got.answer.checked.backwards == 1
    assert got.status == 1
    assert got.concluded_with == 0


def test_a_torch_that_cannot_be_imported_says_so_as_ever(tmp_path):
    got = same(tmp_path, "import torch\n", env=environment(STUB_BROKEN="1"))
    assert got.status == 1
    assert got.answer.checked.backwards == 0


def test_the_temporary_directory_is_still_the_scripts_to_choose(tmp_path):
    source = """
        import multiprocessing as mp, os, tempfile
        def work(): pass
        if __name__ == "__main__":
            process = mp.get_context("spawn").Process(target=work); process.start(); process.join()
            os.environ["TMPDIR"] = os.getcwd()
            tempfile.tempdir = None
            print(tempfile.gettempdir() == os.getcwd())
    """
    same(tmp_path, source)


def test_nothing_is_left_in_the_temporary_directory(tmp_path):
    (tmp_path / "tmp").mkdir()
    script(tmp_path, "import os, torch\nif not os.fork():\n    torch.backward()\nelse:\n    os.wait()\n")
    got = audited(tmp_path, "train.py", env=environment(TMPDIR=str(tmp_path / "tmp")))
    assert got.answer.checked.backwards == 1
    assert list((tmp_path / "tmp").iterdir()) == []


def test_safe_path_is_respected(tmp_path):
    if sys.version_info < (3, 11):
        pytest.skip("Python 3.11 brought it")
    script(tmp_path, "import sys; print(sys.path)")
    env = environment(PYTHONSAFEPATH="1")
    assert audited(tmp_path, "train.py", env=env).out == plain(tmp_path, "train.py", env=env).out


def test_ways_to_fork_and_signal_are_restored_only_at_the_end(tmp_path):
    source = """
        import os, signal
        print(signal.getsignal(signal.SIGTERM), signal.signal(signal.SIGTERM, signal.SIG_DFL))
        print(signal.signal.__name__, signal.signal.__module__, signal.getsignal(signalnum=15))
        try:
            os._exit("text")
        except TypeError as error:
            print("TypeError")
        try:
            signal.signal(signal.SIGTERM, "text")
        except TypeError as error:
            print(error)
    """
    same(tmp_path, source)
