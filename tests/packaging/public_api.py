"""What others build on, as text: names, signatures, fields, and the options of every command.

`python -m tests.packaging.public_api` writes it down, for a change that is meant.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path

import gradledger
from gradledger.cli.commands import commands, load

SNAPSHOT = Path(__file__).with_name("public_api.txt")
SOURCES = Path(gradledger.__file__).parent
REACHED = (
    *("gradledger.watching.Ledger", "gradledger.watching.BalanceSheet", "gradledger.watching.Entry"),
    *("gradledger.rules.finding.Severity", "gradledger.rules.finding.Certainty"),
    *("gradledger.integrations.attached.Attached", "gradledger.integrations.pytest.gradient_ledger"),
    *("gradledger.integrations.accelerate.attach", "gradledger.integrations.ignite.attach"),
    *("gradledger.integrations.lightning.GradientAudit", "gradledger.integrations.lightning.ExactWindows"),
    *(f"gradledger.integrations.transformers.{n}" for n in ("GradientAudit", "attach", "verify", "exact")),
    *(
        f"gradledger.integrations.{n}.{f}"
        for n in ("tensorboard", "wandb", "mlflow")
        for f in ("watch", "export")
    ),
    "gradledger.integrations.distributed_checkpoint.Stateful",
    *("gradledger.engine.policy.Every", "gradledger.engine.policy.Tail", "gradledger.engine.update.Outcome"),
    *("gradledger.engine.precision.Precision", "gradledger.engine.batchnorm.Statistics"),
    *("gradledger.engine.accumulator.Terms", "gradledger.parallel.fsdp2.Traffic"),
)
"""What the public names hand out, and what the pages tell to import from elsewhere."""
KEPT = ("__init__", "__enter__", "__exit__", "__str__", "__bool__", "__iter__", "__len__", "__call__")


def public_api() -> str:
    """One line for each thing that may not change by accident."""
    homes = {f"gradledger.{name}": f"{home}.{name}" for name, home in gradledger._HOMES.items()}
    known = {f"gradledger.{name}": homes.get(f"gradledger.{name}") for name in gradledger.__all__}
    known |= {name: name for name in REACHED}
    lines = [line for name, home in known.items() for line in _described(name, home)]
    for entry in commands().values():
        parser = argparse.ArgumentParser()
        load(entry).add_arguments(parser)
        for action in parser._actions:
            if not isinstance(action, argparse._HelpAction):
                named = "|".join(action.option_strings) or action.dest
                choices = f" {{{','.join(map(str, action.choices))}}}" if action.choices else ""
                lines.append(f"$ gradledger {entry.name} {named}{choices}")
    return "\n".join(lines) + "\n"


def _described(name: str, home: str | None) -> Iterator[str]:
    if home is None:
        yield name
        return
    module, _, own = home.rpartition(".")
    tree = ast.parse((SOURCES / f"{'/'.join(module.split('.')[1:])}.py").read_text(encoding="utf-8"))
    (node,) = (n for n in tree.body if own in (getattr(n, "name", None), *_assigned(n)))
    if isinstance(node, ast.Assign):
        yield f"{name} = {ast.unparse(node.value)}"
        return
    if isinstance(node, ast.FunctionDef):
        yield f"{name}{_signature(node)}"
        return
    yield f"class {name}({', '.join(map(ast.unparse, node.bases))})"
    for item in node.body:
        match item:
            case ast.AnnAssign(target=ast.Name(id=field)) if not field.startswith("_"):
                yield f"  {name}.{ast.unparse(item)}"
            case ast.Assign(targets=[ast.Name(id=field)]) if not field.startswith("_"):
                yield f"  {name}.{ast.unparse(item)}"
            case ast.FunctionDef(name=method) if not method.startswith("_") or method in KEPT:
                marks = "".join(f"@{ast.unparse(mark)} " for mark in item.decorator_list)
                yield f"  {marks}{name}.{method}{_signature(item)}"


def _assigned(node: ast.stmt) -> list[str]:
    return [ast.unparse(target) for target in node.targets] if isinstance(node, ast.Assign) else []


def _signature(node: ast.FunctionDef) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(node.args)}){returns}"


if __name__ == "__main__":
    SNAPSHOT.write_text(public_api(), encoding="utf-8")
