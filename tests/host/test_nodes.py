"""Several machines under torchrun: one answer, from rank 0 of all."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gradledger.audit.answer import Answer, Checked
from gradledger.host.nodes import Nodes, several_nodes
from gradledger.ledger.site import Site
from gradledger.rules.finding import Certainty, Finding, Severity

ENVIRONMENT = {
    "TORCHELASTIC_RUN_ID": "job",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
    "GROUP_RANK": "1",
    "GROUP_WORLD_SIZE": "3",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29500",
}


def answer(rank: int) -> Answer:
    found = Finding(
        "GL101",
        "stale-gradient",
        Severity.ERROR,
        Certainty.CERTAIN,
        Site("train.py", 3),
        "adds",
        ranks=(rank,),
    )
    return Answer("runtime", (found,), Checked(backwards=rank + 1))


def test_a_place_among_several_machines() -> None:
    nodes = several_nodes(ENVIRONMENT)
    assert nodes == Nodes(1, 3, "127.0.0.1", 29500, "job/0")
    assert nodes is not None
    assert not nodes.reports
    assert several_nodes({**ENVIRONMENT, "GROUP_WORLD_SIZE": "1"}) is None
    assert several_nodes({**ENVIRONMENT, "TORCHELASTIC_USE_AGENT_STORE": "False"}) is None
    assert several_nodes({}) is None


def never() -> bool:
    return False


def test_answers_meet_at_the_store() -> None:
    from torch.distributed import TCPStore

    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    first, second, third = (Nodes(node, 3, "127.0.0.1", store.port, "job/0") for node in range(3))
    with ThreadPoolExecutor() as machines:
        one = machines.submit(second.deliver, answer(1), 30.0, never)
        store.wait(["gradledger/job/0/1"])
        others, notes = first.gather(0.2, never)
        assert others == [answer(1)]
        assert notes == ["machine 2 gave no answer, or not in time"]
        two = machines.submit(third.deliver, answer(2), 30.0, never)
        others, notes = first.gather(30.0, never)
        assert others == [answer(1), answer(2)]
        assert notes == []
        first.tell(1, never)
        assert (one.result(), two.result()) == (1, 1)


def test_a_machine_that_is_not_answered_speaks_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradledger.host.nodes.SHORT_TIMEOUT", 0.1)
    from torch.distributed import TCPStore

    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    alone = Nodes(1, 2, "127.0.0.1", store.port, "job/0")
    assert alone.deliver(answer(1), 0.0, lambda: True) is None


def test_without_a_store_each_speaks_for_itself() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nodes = Nodes(1, 2, "127.0.0.1", free.getsockname()[1], "job/0", connecting=0.2)
    assert nodes.deliver(answer(1), 1.0, never) is None
    nodes.tell(0, never)
    others, (note,) = nodes.gather(1.0, never)
    assert others == []
    assert note.startswith("the other machines were not heard: ")


TRAIN = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    model(torch.randn(5, 3)).square().mean().backward()
    optimizer.step()
dist.destroy_process_group()
"""


def recipe(port: int) -> list[str]:
    """What docs/integrations.md gives to torchrun, with the values that SLURM would have set."""
    page = Path(__file__).resolve().parents[2] / "docs" / "integrations.md"
    (script,) = re.findall(r"```bash\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    words = shlex.split(script.split("srun torchrun ")[1].replace("\\\n", " "))
    values = {
        "$SLURM_NNODES": "2",
        "$GPUS_PER_NODE": "1",
        "$SLURM_JOB_ID": "job",
        "$HEAD:29500": f"127.0.0.1:{port}",
        "train.py": "../train.py",
    }
    assert set(values) < set(words)
    return [values.get(word, word) for word in words]


@pytest.mark.distributed
@pytest.mark.slow
def test_two_hosts_give_one_answer(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    agents = []
    for node in range(2):
        own = tmp_path / f"host{node}"
        own.mkdir()
        (own / "tmp").mkdir()
        call = [sys.executable, "-m", "torch.distributed.run", "--local-addr", "127.0.0.1", *recipe(port)]
        environ = {**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(own / "tmp")}
        agents.append(subprocess.Popen(call, cwd=own, env=environ, stdout=-1, stderr=-1))
    try:
        told = [agent.communicate(timeout=180)[1].decode() for agent in agents]
    finally:
        for agent in agents:
            agent.kill()
    reports = list(tmp_path.glob("host*/report.json"))
    assert len(reports) == 1, told
    report = json.loads(reports[0].read_text())
    assert [(found["code"], found["ranks"]) for found in report["findings"]] == [("GL101", [0, 1])]
    assert report["checked"] == {"backwards": 8, "steps": 8, "parameters": 2}
    assert report["notes"] == []
    assert [agent.returncode for agent in agents] == [1, 1], told
