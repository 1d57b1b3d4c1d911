"""A reader's script may run or print without end."""

from __future__ import annotations

import sys

from gradledger.lessons.repairing.running import KEPT, ran


def test_a_script_that_does_not_end_is_stopped() -> None:
    assert ran([sys.executable, "-c", "while True: pass"], patience=0.2) == (None, "")


def test_its_status_and_the_end_of_what_it_says_are_kept() -> None:
    program = (
        f"import sys; sys.stderr.write('begin' + 'x' * {4 * KEPT} + 'end'); print('unheard'); sys.exit(3)"
    )
    status, said = ran([sys.executable, "-c", program], patience=60)
    assert status == 3
    assert len(said) == KEPT
    assert said.endswith("xend")
