"""The distributions as a user gets them, and environments that hold nothing else."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tarfile
import venv
from dataclasses import dataclass
from pathlib import Path

from build import ProjectBuilder
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LEAKING = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "COLUMNS", "FORCE_COLOR", "RANK")
"""What would let the development environment, or this terminal, be seen."""


@dataclass(frozen=True)
class Built:
    sdist: Path
    wheel: Path
    wheel_of_sdist: Path


@dataclass(frozen=True)
class Environment:
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        (folder,) = (self.folder / "lib").glob("python*/site-packages")
        return folder

    def run(self, *words: str, cwd: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
        """A command of this environment alone; its exit code must be this one."""
        environ = {name: value for name, value in os.environ.items() if name not in LEAKING}
        environ |= {"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONUTF8": "1"}
        environ |= {"PYTHONNOUSERSITE": "1", "OMP_NUM_THREADS": "1"}
        call = [str(self.folder / "bin" / words[0]), *words[1:]]
        done = subprocess.run(
            call, cwd=cwd, env=environ, capture_output=True, encoding="utf-8", timeout=300, check=False
        )
        assert done.returncode == status, f"{words} gave {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done


def build(folder: Path) -> Built:
    """The sdist, the wheel of this tree, and the wheel of what the sdist unpacks to."""
    here = ProjectBuilder(ROOT)
    sdist = Path(here.build("sdist", folder))
    wheel = Path(here.build("wheel", folder))
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    again = ProjectBuilder(unpacked).build("wheel", folder / "again")
    return Built(sdist, wheel, Path(again))


def clean_environment(folder: Path, wheel: Path) -> Environment:
    """An environment into which only the wheel was installed, and what it cannot do without."""
    venv.create(folder, symlinks=True)
    made = Environment(folder)
    call = [sys.executable, "-m", "pip", "--python", str(made.python), "install", "--quiet", "--no-compile"]
    call += ["--disable-pip-version-check", "--no-index", "--no-deps", str(wheel)]
    done = subprocess.run(call, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    add_requirements(made, extra="")
    return made


def add_requirements(made: Environment, extra: str) -> None:
    """What the wheel asks for and nothing beside it, as links to where it is installed: torch is large."""
    (own,) = importlib.metadata.distributions(path=[str(made.packages)])
    folder = made.folder / "linked"
    folder.mkdir(exist_ok=True)
    waiting = [(Requirement(line), extra) for line in own.requires or ()]
    seen = set()
    while waiting:
        requirement, extra = waiting.pop()
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": extra})
        if not applies or requirement.name in seen:
            continue
        seen.add(requirement.name)
        found = importlib.metadata.distribution(requirement.name)
        for top in {path.parts[0] for path in found.files or ()} - {"..", "__pycache__"}:
            link = folder / top
            if not link.exists():
                link.symlink_to(Path(str(found.locate_file(top))).absolute())
        waiting += [(Requirement(line), "") for line in found.requires or ()]
    (made.packages / "linked.pth").write_text(f"{folder}\n", encoding="utf-8")
