"""What a repair is: the code it is for, and the candidates it has for one finding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from gradledger.repair.case import Case
from gradledger.rules.finding import Fix


class Repairer:
    """Knows how one rule's findings are put right; one file per rule."""

    code: ClassVar[str]

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """Repairs for the finding, the best first, None for those that turn out impossible."""
        raise NotImplementedError
