"""One parsed file, and what its text tells at a glance: which functions matter, how names are used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from zlib import crc32

from gradledger.ledger.site import Site
from gradledger.static.code import code_of

_DIRECT = re.compile(
    r"\.\s*(?:backward|manual_backward|step|zero_grad|unscale_|clip_grad_norm_|clip_grad_value_|no_sync"
    r"|accumulate|set_requires_gradient_sync|clip_gradients|unscale_gradients)\s*\("
    r"|\bclip_grad_norm_\s*\(|\bclip_grad_value_\s*\(|\.grad\b|\bzero_grad\b|require_backward_grad_sync"
)
_DIRECT_WORDS = (
    "backward",
    "step",
    "zero_grad",
    ".grad",
    "clip_grad",
    "unscale_",
    "no_sync",
    "accumulate",
    "gradient_sync",
)
"""Of these, one at least is in whatever `_DIRECT` finds; to look for them is much cheaper."""
_ACTS = re.compile(r"\bbackward\s*\(|\.step\s*\(|\bzero_grad\b|\.zero_\(|\.grad\s*=")
_SCALES = re.compile(r"[sS]cal(?:er|ing)\w*\.(?:update|scale)\s*\(")
_LEAVES = re.compile(
    r"^\s*(?:continue|break|return|raise)\b|[:;]\s*(?:continue|break|return|raise)\b", re.MULTILINE
)
_BUILDS = re.compile(
    r"\boptim\.|\b(?:Adam|AdamW|SGD|RMSprop|GradScaler)\(|lr_scheduler\.|requires_grad|DistributedDataParallel\(|\bDDP\("
    r"|\w*(?:optimizer|scheduler|scaler)\w*\s*=[^=]"
)
_USE = re.compile(r"\b([A-Za-z_]\w*)(?:\[[^\]\n]*\])?\s*\.\s*(?=([A-Za-z_]\w*))")

_MICRO = re.compile(
    r"accum|micro|grad_steps|chunk|sub_?batch|sub_?i\b|sub_?iter|iter_?size|update_freq|mini_?step|\bsplit"
)
"""What the head of a loop over the parts of one batch is made of."""
_TALKS = frozenset(
    [
        "parser",
        "logger",
        "logging",
        "log",
        "writer",
        "wandb",
        "plt",
        "print",
        "warnings",
        "os",
        "time",
        "np",
        "random",
        "json",
        "pickle",
        "sys",
        "pbar",
        "tqdm",
        "shutil",
        "progress_bar",
        "argparse",
        "sns",
        "torchvision",
        "summary_writer",
        "tb_writer",
        "mlflow",
    ]
)

CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_OVER = re.compile(r"\bin\s+(?:\w+\()*(?:self\.)?(\w+)")

_PASS = re.compile(r"\.backward\b|[\"']backward[\"']|\bimport\b[^\n]*\bbackward\b")
_CALLS_PASS = re.compile(r"backward\w*\s*\(")
_DEFINES = re.compile(r"\bdef\s+\w*$")
_BY_KEY = re.compile(r"\bnext\(\s*[\w.]+\[(\w+)\]")

_COPIES = re.compile(
    r"\.load_state_dict\(\s*(?:(\w+)\s*[,)]|[\w.\[\]]+\.state_dict\(\))|\.data\.copy_\(\s*[\w.*+()\s-]*\.data\b"
)
"""One model's weights put into another, as into a target network."""

_TAKES = re.compile(r"(\w+)\s*=\s*[\w.\[\]]+\.state_dict\(\)")

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Unit:
    """A file's syntax tree and text."""

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.text = text
        self.code = code_of(_with_plain_ends(text))
        """The text without comments and docstrings, which mention much that is not done."""
        self.lines = _lines(self.code)
        self._sites: dict[int, Site] = {}
        self._relevant: dict[int, bool] = {}
        self._acting: dict[tuple[int, int], bool] = {}
        self._leaving: dict[int, bool] = {}
        self._heads: dict[int, tuple[bool, bool]] = {}
        self._members: dict[int, bool] = {}
        self._inert: dict[int, bool] = {}
        self._segments: dict[tuple[int, int], str] = {}
        self._called: dict[int, frozenset[str]] = {}
        self._written: dict[int, str] = {}

    def site(self, node: ast.AST, function: str = "<module>") -> Site:
        """Where a node is."""
        known = self._sites.get(id(node))
        if known is None:
            line, end = node.lineno, node.end_lineno  # type: ignore[attr-defined]
            known = Site(
                self.path,
                line,
                self._column(line, node.col_offset) + 1,  # type: ignore[attr-defined]
                end,
                self._column(end, node.end_col_offset) + 1,  # type: ignore[attr-defined]
                function,
            )
            self._sites[id(node)] = known
        return known

    def _column(self, line: int, offset: int) -> int:
        """The column in characters; the syntax tree counts bytes of UTF-8."""
        if self.text.isascii():
            return offset
        text = self._written_lines[line - 1] if line <= len(self._written_lines) else ""
        return len(text.encode()[:offset].decode("utf-8", "ignore"))

    def segment(self, nodes: list[ast.stmt]) -> str:
        """The text of statements in a row."""
        if not nodes:
            return ""
        ends = id(nodes[0]), id(nodes[-1])
        known = self._segments.get(ends)
        if known is None:
            known = self._segments[ends] = self._cut(nodes[0], nodes[-1])
        return known

    def _cut(self, start: ast.stmt, end: ast.stmt) -> str:
        first, last = start.lineno, end.end_lineno or end.lineno
        if first == last:
            line = self.lines[first - 1] if first <= len(self.lines) else ""
            return line.encode()[start.col_offset : end.end_col_offset].decode("utf-8", "ignore")
        return "".join(self.lines[first - 1 : last])

    @cached_property
    def _written_lines(self) -> list[str]:
        return _lines(_with_plain_ends(self.text))

    @cached_property
    def tag(self) -> str:
        """A short name for labels, which grow; files of the same name differ in it."""
        return f"{self.path.rpartition('/')[2]}~{crc32(self.path.encode('utf-8', 'replace')):x}"

    @cached_property
    def differentiates(self) -> bool:
        """Whether a backward pass is called or handed on; the word alone speaks of other things."""
        return differentiates(self.code)

    @cached_property
    def functions(self) -> list[tuple[FunctionNode, ast.ClassDef | None]]:
        """Every function with the class it stands in, outer ones first."""
        return list(_functions(self.tree.body, None))

    @cached_property
    def relevant_names(self) -> frozenset[str]:
        """Names of functions that deal with gradients, directly or through others."""
        pending: list[tuple[str, set[str]]] = []
        names: set[str] = set()
        for node, _ in self.functions:
            text = self.segment(node.body)
            if direct(text):
                names.add(node.name)
            else:
                pending.append((node.name, set(CALLED.findall(text))))
        found = bool(names)
        while found:
            more = {name for name, called in pending if not called.isdisjoint(names)}
            found = not more <= names
            names |= more
            pending = [(name, called) for name, called in pending if name not in names]
        return frozenset(names)

    def calls_one_that_matters(self, text: str) -> bool:
        """Whether the text calls a function that deals with gradients."""
        return bool(self.relevant_names) and not self.relevant_names.isdisjoint(CALLED.findall(text))

    @cached_property
    def nested(self) -> set[FunctionNode]:
        """Functions defined inside others."""
        return {inner for node, _ in self.functions for inner, _ in _functions(node.body, None)}

    def written(self, node: ast.expr) -> str:
        """An expression as text."""
        known = self._written.get(id(node))
        if known is None:
            known = self._written[id(node)] = ast.unparse(node)
        return known

    def touches_gradients(self, nodes: list[ast.stmt]) -> bool:
        """Whether these statements can change what becomes of a gradient."""
        if not nodes:
            return False
        known = self._relevant.get(id(nodes[0]))
        if known is None:
            text = self.segment(nodes)
            known = direct(text) or _BUILDS.search(text) is not None
            known = known or self.calls_one_that_matters(text)
            self._relevant[id(nodes[0])] = known
        return known

    def acts(self, nodes: list[ast.stmt]) -> bool:
        """Whether these statements themselves differentiate, clear or step."""
        if not nodes:
            return False
        ends = id(nodes[0]), id(nodes[-1])
        known = self._acting.get(ends)
        if known is None:
            text = self.segment(nodes)
            known = self._acting[ends] = direct(text) or self.calls_one_that_matters(text)
        return known

    def clears(self, nodes: list[ast.stmt]) -> bool:
        """Whether these statements themselves clear gradients."""
        return bool(nodes) and "zero_grad" in self.segment(nodes)

    def leaves(self, nodes: list[ast.stmt]) -> bool:
        """Whether these statements leave the loop or the function."""
        if not nodes:
            return False
        known = self._leaving.get(id(nodes[0]))
        if known is None:
            known = self._leaving[id(nodes[0])] = _LEAVES.search(self.segment(nodes)) is not None
        return known

    def heads(self, node: ast.For | ast.AsyncFor) -> tuple[bool, bool]:
        """Whether a loop's head speaks of micro-batches, and whether its body makes no step."""
        known = self._heads.get(id(node))
        if known is None:
            head = ast.unparse(node.target) + " " + ast.unparse(node.iter)
            micro = _MICRO.search(head.lower()) is not None
            known = self._heads[id(node)] = micro, "step(" not in self.segment(node.body)
        return known

    def trains_each(self, node: ast.For | ast.AsyncFor) -> bool:
        """Whether each turn trains a model of its own: `for net in nets: net.zero_grad()`."""
        known = self._members.get(id(node))
        if known is None:
            names = "|".join(part.id for part in ast.walk(node.target) if isinstance(part, ast.Name))
            own = rf"(?:\[(?:{names})\]|\b(?:{names}))\.(?:step|zero_grad)\("
            known = bool(names) and re.search(own, self.segment(node.body)) is not None
            self._members[id(node)] = known
        return known

    def shortens(self, name: str) -> bool:
        """Whether something is taken out of a list of this name: it need not grow."""
        last = name.rsplit(".", 1)[-1]
        if not self.uses.get(last, set()).isdisjoint(("pop", "popleft")):
            return True
        same = re.escape(last)
        return re.search(rf"(?:\bdel\s+|\b{same}\s*=\s*)(?:\w+\.)*{same}\[", self.code) is not None

    def draws_by_key(self, node: ast.For | ast.AsyncFor) -> bool:
        """Whether each turn takes a batch from an iterator of its own: `next(iterators[task])`."""
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        return bool(name) and name in _BY_KEY.findall(self.segment(node.body))

    def inert(self, node: ast.Expr) -> bool:
        """Whether a statement only talks to people, files or random numbers."""
        known = self._inert.get(id(node))
        if known is None:
            callee = node.value.func if isinstance(node.value, ast.Call) else node.value
            while isinstance(callee, ast.Attribute):
                callee = callee.value
            known = isinstance(callee, ast.Name) and callee.id in _TALKS and not self.acts([node])
            self._inert[id(node)] = known
        return known

    def called_inside(self, node: ast.Expr) -> frozenset[str]:
        """Names that a statement calls."""
        known = self._called.get(id(node))
        if known is None:
            known = self._called[id(node)] = frozenset(CALLED.findall(self.segment([node])))
        return known

    @cached_property
    def copies(self) -> set[tuple[str, int]]:
        """Where one model is given the weights of another."""
        taken = set(_TAKES.findall(self.code)) if "state_dict" in self.code else set()
        return {
            (self.path, self.code.count("\n", 0, found.start()) + 1)
            for found in _COPIES.finditer(self.code)
            if found[1] is None or found[1] in taken
        }

    @cached_property
    def iterated(self) -> set[str]:
        """Names over which a loop runs."""
        return set(_OVER.findall(self.code))

    @cached_property
    def uses(self) -> dict[str, set[str]]:
        """The last part of a name -> all that is ever asked of it."""
        uses: dict[str, set[str]] = {}
        for name, attribute in _USE.findall(self.code):
            uses.setdefault(name, set()).add(attribute)
        return uses


def _with_plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _lines(text: str) -> list[str]:
    """Lines as the syntax tree counts them: form feeds and Unicode's line separators end none."""
    return [line + "\n" for line in text.split("\n")]


def _functions(
    body: list[ast.stmt], owner: ast.ClassDef | None
) -> Iterator[tuple[FunctionNode, ast.ClassDef | None]]:
    for node in body:
        if isinstance(node, FunctionNode):
            yield node, owner
            yield from _functions(node.body, None)
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, node)
        else:
            for field in ("body", "orelse", "finalbody"):
                inner = getattr(node, field, None)
                if inner and isinstance(inner, list):
                    yield from _functions(inner, owner)
            for handler in getattr(node, "handlers", ()):
                yield from _functions(handler.body, owner)


def acts(text: str) -> bool:
    """Whether the text itself differentiates, clears or steps."""
    return _ACTS.search(text) is not None


def differentiates(code: str) -> bool:
    """Whether something called backward is called or handed on; to define one is not yet to differentiate."""
    if "backward" not in code:
        return False
    if _PASS.search(code) is not None:
        return True
    return any(
        _DEFINES.search(code, code.rfind("\n", 0, call.start()) + 1, call.start()) is None
        for call in _CALLS_PASS.finditer(code)
    )


def direct(text: str) -> bool:
    """Whether the text itself deals with gradients."""
    if any(word in text for word in _DIRECT_WORDS) and _DIRECT.search(text) is not None:
        return True
    return ("caler" in text or "caling" in text) and _SCALES.search(text) is not None
