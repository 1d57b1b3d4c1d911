"""`match` in the small model."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from gradledger.static.leaving import Way
from gradledger.static.loops import Loops
from gradledger.static.operators import is_plain
from gradledger.static.values import Value


class Matching(Loops):
    """The part of the machine that matches patterns."""

    def _match(self, node: Any) -> Way | None:
        subject = self.evaluate(node.subject)
        for case in node.cases:
            fits = self._fits(case.pattern, subject)
            relevant = self.unit.touches_gradients(case.body)
            if fits is None:
                label = f"{self.label(subject)} is {ast.unparse(case.pattern)}"
                fits = self.decide(label, case.pattern, relevant=relevant, default=False)
            if fits and (case.guard is None or self.truth(case.guard, relevant=relevant)):
                return self.execute(case.body)
        return None

    def _fits(self, pattern: Any, subject: Value) -> bool | None:
        """Whether a value is what a pattern describes, its names being bound; None if that cannot be told."""
        match type(pattern).__name__:
            case "MatchValue":
                return self.known_truth(
                    self.compare(ast.Eq(), subject, self.evaluate(pattern.value), pattern.value)
                )
            case "MatchSingleton":
                return subject is pattern.value if is_plain(subject) else None
            case "MatchOr":
                return _any(self._fits(part, subject) for part in pattern.patterns)
            case "MatchAs":
                fits = True if pattern.pattern is None else self._fits(pattern.pattern, subject)
                if pattern.name is not None:
                    self.scope.names[pattern.name] = subject
                return fits
            case "MatchSequence":
                return self._fits_sequence(pattern.patterns, subject)
            case "MatchMapping":
                return self._fits_mapping(pattern, subject)
            case _:
                self._bind_unseen(pattern)
                return None

    def _fits_sequence(self, patterns: list[Any], subject: Value) -> bool | None:
        starred = any(type(part).__name__ == "MatchStar" for part in patterns)
        if not isinstance(subject, (list, tuple)) or starred:
            for part in patterns:
                self._bind_unseen(part)
            return False if is_plain(subject) else None
        if len(subject) != len(patterns):
            return False
        return _all(self._fits(part, held) for part, held in zip(patterns, subject, strict=True))

    def _fits_mapping(self, pattern: Any, subject: Value) -> bool | None:
        if not isinstance(subject, dict):
            self._bind_unseen(pattern)
            return False if is_plain(subject) else None
        keys = [self.evaluate(key) for key in pattern.keys]
        if any(not isinstance(key, (str, int)) or key not in subject for key in keys):
            return False if all(isinstance(key, (str, int)) for key in keys) else None
        return _all(self._fits(part, subject[key]) for key, part in zip(keys, pattern.patterns, strict=True))

    def _bind_unseen(self, pattern: Any) -> None:
        """The names in a pattern that is not looked into hold something unknown."""
        for part in ast.walk(pattern):
            for name in (getattr(part, "name", None), getattr(part, "rest", None)):
                if isinstance(name, str):
                    self.scope.names[name] = self.unknown(f"{name}{self.at(pattern)}")


def _all(answers: Iterable[bool | None]) -> bool | None:
    known = list(answers)
    return False if False in known else None if None in known else True


def _any(answers: Iterable[bool | None]) -> bool | None:
    known = list(answers)
    return True if True in known else None if None in known else False
