"""docs/integrations.md: its recipes fit together, its links lead somewhere; tests/docs runs its programs."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import gradledger.integrations

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.libraries

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]


def test_the_tests_pass_without_the_option_too(pytester: pytest.Pytester) -> None:
    """With it they are run by tests/docs, like everything else on the page."""
    (tests,) = re.findall(r"<!-- tests -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    pytester.makepyfile(tests)
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=3)


def test_recipes_are_well_formed() -> None:
    (batch,) = re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    assert subprocess.run(["bash", "-n"], input=batch, text=True, check=False).returncode == 0
    manifests, workflow, hooks = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    service, job = yaml.safe_load_all(manifests)
    pod = job["spec"]["template"]["spec"]
    command = pod["containers"][0]["command"]
    name = job["metadata"]["name"]
    assert service["spec"]["selector"] == {"job-name": name}
    assert pod["subdomain"] == service["metadata"]["name"]
    assert f"--rdzv-endpoint={name}-0.{pod['subdomain']}:29500" in command
    assert f"--nnodes={job['spec']['completions']}" in command
    steps = yaml.safe_load(workflow)["jobs"]["gradients"]["steps"]
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    assert set(steps[1]["with"]) <= set(inputs)
    (repo,) = yaml.safe_load(hooks)["repos"]
    known = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {hook["id"] for hook in repo["hooks"]} <= known


def test_links_lead_somewhere() -> None:
    for page, anchor in re.findall(r"\]\((?!http)([\w.-]*)(?:#([\w-]+))?\)", PAGE):
        text = PAGE if not page else (ROOT / "docs" / page).read_text(encoding="utf-8")
        headings = {
            re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
            for line in text.splitlines()
            if line.startswith("#")
        }
        assert not anchor or anchor in headings, (page, anchor)


def test_every_extra_of_the_page_exists() -> None:
    table = PAGE.split("| with |")[1].split("\n\n")[0]
    named = {word for row in table.splitlines()[2:] for word in re.findall(r"`(\w+)`", row.rsplit("|", 2)[1])}
    assert named <= set(EXTRAS)


@pytest.mark.parametrize("name", ["accelerate", "ignite", "ipython", "lightning", "transformers"])
def test_a_missing_package_is_told_in_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = {"ipython": "IPython"}.get(name, name)
    for module in [
        module for module in sys.modules if module.partition(".")[0] in (package, "pytorch_lightning")
    ]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(sys.modules, f"gradledger.integrations.{name}", raising=False)
    monkeypatch.delattr(gradledger.integrations, name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    said = rf"^gradledger\.integrations\.{name} needs {package}: pip install 'gradledger\[{name}\]'$"
    with pytest.raises(ImportError, match=said):
        importlib.import_module(f"gradledger.integrations.{name}")
