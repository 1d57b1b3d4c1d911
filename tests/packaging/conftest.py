"""One build and one environment of each kind, however many processes run the tests."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from filelock import FileLock

from tests.packaging.environments import Built, Environment, add_requirements, build, clean_environment

Made = TypeVar("Made")


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], Made]], Made]:
    """Makes a thing in the first process that wants it; the others take what is there."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def made(name: str, make: Callable[[Path], Made]) -> Made:
        folder = shared / f"packaging-{name}"
        done = shared / f"packaging-{name}.done"
        with FileLock(shared / f"packaging-{name}.lock"):
            if not done.exists():
                folder.mkdir(exist_ok=True)
                done.write_bytes(pickle.dumps(make(folder)))
        return pickle.loads(done.read_bytes())

    return made


@pytest.fixture(scope="session")
def built(once) -> Built:
    return once("dist", build)


@pytest.fixture(scope="session")
def without_torch(once, built: Built) -> Environment:
    return once("bare", lambda folder: clean_environment(folder, built.wheel))


@pytest.fixture(scope="session")
def with_torch(once, built: Built) -> Environment:
    """The wheel that was built from the sdist, beside PyTorch."""

    def make(folder: Path) -> Environment:
        made = clean_environment(folder, built.wheel_of_sdist)
        add_requirements(made, extra="torch")
        return made

    return once("torch", make)
