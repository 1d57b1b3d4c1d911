"""The program to run, with the surroundings that Python would give it."""

from __future__ import annotations

import builtins
import io
import os
import pkgutil
import runpy
import sys
from collections.abc import Callable
from importlib.machinery import BuiltinImporter, SourceFileLoader, SourcelessFileLoader
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType

from gradledger.host.target import Target
from gradledger.ledger.record import dataclass

_earlier_mains: list[ModuleType] = []  # a replaced __main__ must outlive the functions that came from it


class CannotRunError(Exception):
    """The program cannot even be begun."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Program:
    """Something runnable: what becomes of sys.argv and sys.path, and the call that runs it."""

    argv: tuple[str, ...]
    directory: str | None
    """What becomes the first entry of sys.path; None leaves the path alone."""
    own_directory: bool
    """Whether `directory` is the program itself, which goes into sys.path even in Python's safe mode."""
    run: Callable[[ModuleType], object]


def prepare(target: Target) -> Program:
    """Find the program; raises CannotRunError if there is none."""
    if target.kind == "module":
        return _module(target)
    path = _absolute(target.name)
    if pkgutil.get_importer(path) is None:
        return _script(target, path)
    return _archive(target, path)


def enter(program: Program) -> ModuleType:
    """Give the process the program's argv, sys.path and a fresh `__main__`."""
    sys.argv = list(program.argv)
    # Python itself put an entry for gradledger at the front, unless it was told not to.
    safe = getattr(sys.flags, "safe_path", False) or sys.flags.isolated
    if program.directory is not None:
        if not safe and sys.path:
            sys.path[0] = program.directory
        elif program.own_directory:
            sys.path.insert(0, program.directory)
    main = ModuleType("__main__")
    vars(main)["__loader__"] = BuiltinImporter
    if sys.version_info < (3, 14):
        vars(main)["__annotations__"] = {}
    vars(main)["__builtins__"] = builtins
    _earlier_mains.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    return main


def _module(target: Target) -> Program:
    try:
        here: str | None = os.getcwd()
    except OSError:
        here = None
    return Program(
        ("-m", *target.args),
        here,
        own_directory=False,
        run=lambda _: runpy._run_module_as_main(target.name),  # type: ignore[attr-defined]
    )


def _archive(target: Target, path: str) -> Program:
    """A directory or zip file with a `__main__` module inside."""
    # Python prints what runpy says under its own name; a check beforehand gives the message ours.
    importer = pkgutil.get_importer(path)
    found = importer.find_spec("__main__") if importer is not None else None
    if found is None:
        raise CannotRunError(f"can't find '__main__' module in {target.name!r}", 1)
    return Program(
        (target.name, *target.args),
        path,
        own_directory=True,
        run=lambda _: runpy._run_module_as_main("__main__", alter_argv=False),  # type: ignore[attr-defined]
    )


def _script(target: Target, path: str) -> Program:
    try:
        with io.open_code(path) as file:
            content = file.read()
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotRunError(f"can't open file {target.name!r}: {reason}", 2) from error
    except ValueError as error:  # a null byte in the name
        raise CannotRunError(f"can't open file {target.name!r}: {error}", 2) from error
    compiled = path.endswith(".pyc") or content[:4] == MAGIC_NUMBER
    if not compiled and b"\0" in content:
        raise CannotRunError(f"can't run {target.name!r}: null bytes in it, this is not Python source", 2)
    loader = (SourcelessFileLoader if compiled else SourceFileLoader)("__main__", path)
    try:
        code = loader.get_code("__main__") if compiled else None
    except (ImportError, EOFError, ValueError, TypeError) as error:
        raise CannotRunError(f"can't run {target.name!r}: {error}", 2) from error

    def run(main: ModuleType) -> None:
        vars(main).update(__loader__=loader, __file__=path, __cached__=None)
        exec(code or _compiled(content, path), vars(main))

    directory = os.path.dirname(os.path.realpath(path))
    return Program((target.name, *target.args), directory, own_directory=False, run=run)


def _compiled(content: bytes, path: str) -> CodeType:
    # Of bytes the compiler reads the encoding declaration itself; our own __future__ must not reach in.
    return compile(content, path, "exec", dont_inherit=True)


def _absolute(name: str) -> str:
    """The path as Python writes it: joined to the working directory, and not tidied up."""
    try:
        return os.path.join(os.getcwd(), name)
    except OSError:
        return name
