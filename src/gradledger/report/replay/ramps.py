"""Numbers that mostly stay or grow evenly, written as runs of equal differences."""

from __future__ import annotations

from gradledger.ledger.record import dataclass, field


@dataclass(slots=True)
class Ramp:
    """A row of whole numbers, appended one by one; a line of any slope is one run."""

    runs: list[list[int]] = field(default_factory=list)
    """[difference to the number before (0 before the first), how often in a row]."""
    last: int = 0

    def add(self, number: int) -> None:
        """Append one number."""
        difference = number - self.last
        self.last = number
        if self.runs and self.runs[-1][0] == difference:
            self.runs[-1][1] += 1
        else:
            self.runs.append([difference, 1])

    def numbers(self) -> list[int]:
        """The row written out."""
        row: list[int] = []
        value = 0
        for difference, count in self.runs:
            for _ in range(count):
                value += difference
                row.append(value)
        return row
