"""IPython and Jupyter: `%load_ext gradledger`, then `%%gradledger` above a cell, or `%gradledger on`."""

from __future__ import annotations

import ast
from typing import Any

from gradledger.integrations.needs import needs

needs("IPython", "ipython")

from IPython import display as _display  # noqa: E402
from IPython.core.error import UsageError  # noqa: E402
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand  # noqa: E402

from gradledger.integrations.notebook_audit import NotebookAudit, Output, check_cells  # noqa: E402

WORDS = "on, off, report, check"
display: Any = _display.display


@magics_class
class GradientMagics(Magics):
    """The magics of one shell."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._audit: NotebookAudit | None = None

    @no_var_expand
    @line_cell_magic
    def gradledger(self, line: str, cell: str | None = None) -> object:
        """Keep the books on this session's gradients.

        %%gradledger        above a cell: audit this cell; models of earlier cells are known
        %gradledger on      audit every cell from here on; what is new is shown below each
        %gradledger report  show all that was found since `on`
        %gradledger off     stop, and show all that was found
        %gradledger check   check the text of the cells that ran so far, without running anything;
                            with a file (`check lesson.ipynb`), that file
        """
        word, _, rest = line.strip().partition(" ")
        if cell is not None:
            if word:
                raise UsageError("%%gradledger takes no arguments")
            return self._cell(cell)
        if word == "check":
            display(check_cells(self.shell, rest.strip()))
        elif rest or word not in ("", "on", "off", "report"):
            raise UsageError(f"%gradledger knows {WORDS}; not {line.strip()!r}")
        elif word == "on":
            self._on()
        elif word:
            display(self._told(end=word == "off"))
        else:
            print(f"gradledger is {'off' if self._audit is None else 'on'} (%gradledger {WORDS})")  # noqa: T201
        return None

    def _cell(self, cell: str) -> object:
        audit = NotebookAudit(self.shell)
        audit.begin()
        try:
            value = self._run(cell)
        except BaseException as error:
            display(audit.end(error))
            raise
        display(audit.end())
        return value

    def _run(self, cell: str) -> object:
        """Run the cell as the shell would, each line under its own number; gives its last expression."""
        shell = self.shell
        blank = len(cell) - len(cell.lstrip("\n"))
        source = "\n" * (1 + blank) + shell.transform_cell(cell).lstrip("\n")
        name = shell.compile.cache(source, shell.displayhook.prompt_count, raw_code=source)
        tree = shell.transform_ast(shell.compile.ast_parse(source, name))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(shell.compile(tree, name, "exec"), shell.user_ns)
        if last is None:
            return None
        return eval(shell.compile(ast.Expression(last.value), name, "eval"), shell.user_ns)

    def _on(self) -> None:
        if self._audit is None:
            self._audit = NotebookAudit(self.shell)
            self._audit.begin()
            self.shell.events.register("post_run_cell", self._after_cell)

    def _told(self, *, end: bool) -> Output:
        if self._audit is None:
            raise UsageError("gradledger is off: %gradledger on audits every cell from there on")
        if not end:
            return self._audit.so_far()
        audit, self._audit = self._audit, None
        self.shell.events.unregister("post_run_cell", self._after_cell)
        return audit.end()

    def _after_cell(self, _: object) -> None:
        news = None if self._audit is None else self._audit.news()
        if news is not None:
            display(news)

    def close(self) -> None:
        """Leave nothing behind."""
        if self._audit is not None:
            self._told(end=True)


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext gradledger` calls."""
    shell.register_magics(GradientMagics(shell))


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext gradledger` calls."""
    magics = shell.magics_manager.registry.pop(GradientMagics.__name__, None)
    if magics is not None:
        magics.close()
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("gradledger", None)
