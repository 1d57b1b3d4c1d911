"""The pytest plugin: `pytest --gradledger` audits every test that trains; findings fail the test.

Every run of pytest loads it where gradledger is installed, so it imports next to nothing until it is asked.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gradledger.integrations.pytest_audit import TestAudit
    from gradledger.integrations.pytest_summary import Tally
    from gradledger.integrations.settings import Settings
    from gradledger.watching import Ledger

FIXTURE = "gradient_ledger"
MARKER = "gradledger(allow=[...]): rules, by name or code, that the audit of this test does not report"

_AUDIT: pytest.StashKey[TestAudit] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the option."""
    parser.getgroup("gradledger").addoption(
        "--gradledger",
        action="store_true",
        help="audit the gradients of every test that trains; a test with findings fails",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and what audits tests; each run of pytest has its own."""
    config.addinivalue_line("markers", MARKER)
    plugin = Auditing(config)
    if plugin.everything:
        plugin.settings  # noqa: B018  settings that cannot be used are told before the first test
    config.pluginmanager.register(plugin, "gradledger-auditing")


@pytest.fixture
def gradient_ledger(request: pytest.FixtureRequest) -> Ledger:
    """The ledger of this test, which is audited with or without --gradledger."""
    ledger: Ledger | None = request.node.stash[_AUDIT].ledger
    assert ledger is not None
    return ledger


class Auditing:
    """Audits the tests of one run of pytest, each by itself."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.everything: bool = config.getoption("gradledger")
        self._settings: Settings | None = None
        self._tally: Tally | None = None

    @property
    def settings(self) -> Settings:
        """The project's settings, read once."""
        if self._settings is None:
            from gradledger.integrations.settings import read_settings

            try:
                self._settings = read_settings(self._config.rootpath)
            except ValueError as error:
                raise pytest.UsageError(f"gradledger: {error}") from error
        return self._settings

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Say at once that a marker is misspelt."""
        for item in items:
            _allowed(item)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        """Begin before the fixtures, which may train too."""
        asked = FIXTURE in getattr(item, "fixturenames", ())
        if self.everything or asked:
            from gradledger.integrations.pytest_audit import TestAudit

            item.stash[_AUDIT] = audit = TestAudit(self.settings, _allowed(item))
            audit.begin(at_once=asked)
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """End with the test, and fail it if there are findings; its own failure comes first."""
        audit = item.stash.get(_AUDIT, None)
        if audit is None:
            return (yield)
        try:
            result = yield
        except BaseException as error:
            audit.end(error)
            if audit.answer is not None and audit.answer.findings:
                item.add_report_section("call", "gradledger", audit.text())
            raise
        audit.end()
        if audit.failure is not None:
            raise audit.failure
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """Leave nothing behind, also where the test was never called."""
        audit = item.stash.get(_AUDIT, None)
        if audit is not None:
            audit.end()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Show findings as pytest shows a failed assertion."""
        report = yield
        audit = item.stash.get(_AUDIT, None)
        if audit is None or call.when != "call" or audit.answer is None:
            return report
        from gradledger.integrations.pytest_summary import told

        vars(report)["gradledger"] = told(audit.answer, self.settings.cwd)
        if report.failed and call.excinfo is not None and call.excinfo.value is audit.failure:
            from gradledger.integrations.pytest_failure import failure

            report.longrepr = failure(audit.answer, self._config)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count, also what the workers of pytest-xdist report."""
        told: dict[str, Any] | None = getattr(report, "gradledger", None)
        if told is not None:
            if self._tally is None:
                from gradledger.integrations.pytest_summary import Tally

                self._tally = Tally()
            self._tally.add(report.nodeid, told)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how much was audited, and what was found that fails nothing."""
        if self._tally is not None:
            self._tally.write(terminalreporter)


def _allowed(item: pytest.Item) -> frozenset[str]:
    """The codes that the markers of this test allow."""
    words: list[str] = []
    for marker in item.iter_markers("gradledger"):
        allow = marker.kwargs.get("allow")
        names = [allow] if isinstance(allow, str) else allow
        if (
            marker.args
            or set(marker.kwargs) - {"allow"}
            or not isinstance(names, (list, tuple, set, type(None)))
        ):
            raise pytest.UsageError(
                f'{item.nodeid}: write the marker as @pytest.mark.gradledger(allow=["stale-gradient"])'
            )
        words += names or ()
    if not words:
        return frozenset()
    from gradledger.audit.selector import UnknownRuleError, expand

    try:
        return expand(words)
    except UnknownRuleError as error:
        raise pytest.UsageError(f"{item.nodeid}: @pytest.mark.gradledger: {error}") from error
