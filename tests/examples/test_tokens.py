"""The example makes the same updates in one process, with DDP and with FSDP2, and nothing is found in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launched import launched

SCRIPT = Path(__file__).parents[2] / "examples" / "tokens.py"


@pytest.mark.slow
@pytest.mark.distributed
def test_one_script_for_one_process_ddp_and_fsdp2() -> None:
    alone, said = launched(SCRIPT)
    assert len(alone) == 4
    assert "96 backward passes, 12 steps, 27 parameters in 1 group: no findings" in said
    for arguments in ((), ("--sharded",)):
        lines, said = launched(SCRIPT, *arguments, ranks=2)
        assert lines == alone
        assert "in 2 processes: no findings" in said
