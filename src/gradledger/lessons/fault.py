"""What is wrong with a file of the course, and where."""

from __future__ import annotations

from pathlib import Path


class CourseError(ValueError):
    """A file of the course that cannot be understood: file, line, problem."""

    def __init__(self, path: Path, line: int, problem: str) -> None:
        super().__init__(f"{path}:{line}: {problem}")
        self.path = path
        self.line = line
        self.problem = problem
