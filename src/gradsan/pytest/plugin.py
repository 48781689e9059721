"""`pytest --gradsan`: every test under the sanitizer. Nothing of it is imported until it is asked for."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from gradsan.pytest.options import MARK, MODES, SEVERITIES, Wish, wish_of

if TYPE_CHECKING:
    from gradsan.api.report import WatchReport
    from gradsan.api.watch_context import WatchContext

PROPERTY = "gradsan"  # of a test's report: one line per finding, in JUnit XML and across xdist workers
NOT_WATCHED = "gradsan could not watch"  # likewise: why
WATCHING: pytest.StashKey[tuple[WatchContext, Wish]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gradsan", "gradient sanitizer")
    group.addoption("--gradsan", action="store_true", help="Run every test under the gradient sanitizer.")
    group.addoption("--gradsan-mode", choices=MODES[:3], default="deep", help="How closely to look (deep).")
    group.addoption(
        "--gradsan-fail-on", choices=SEVERITIES, default="error", help="Fail a test on such findings (error)."
    )
    group.addoption(
        "--gradsan-ignore", action="append", default=[], metavar="CODES", help="Judge by all rules but these."
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARK)


@pytest.fixture
def gradsan_report(request: pytest.FixtureRequest) -> WatchReport:
    """The live report of this test. The test judges by itself: findings do not fail it, unless a mark
    says `fail_on=`."""
    watching: WatchContext = request.node.stash[WATCHING][0]
    return watching.report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A mark that is wrong is said before any test runs."""
    for item in items:
        wish = wish_of(item)
        if wish is not None and (wish.select or wish.ignore):
            from gradsan.api.watch import chosen

            try:
                chosen(wish.select, wish.ignore)
            except ValueError as error:
                raise pytest.UsageError(f"{item.nodeid}: {error}") from None


# -- one test --------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """The watch begins before the fixtures: networks and optimizers are often made there."""
    __tracebackhide__ = True
    wish = wish_of(item)
    refusal = _begin(item, wish) if wish is not None else ""
    result = yield  # in any case: pytest cannot tear down what it has not set up
    if refusal:
        pytest.fail(refusal, pytrace=False)
    return result


def _begin(item: pytest.Item, wish: Wish) -> str:
    """Open the test's watch, or say why there is none."""
    from gradsan.api.watch import watch
    from gradsan.runner.versions import TorchTooOld

    chosen = {"select": wish.select, "ignore": wish.ignore, "include": wish.include}
    watching = watch(wish.mode, **chosen)  # type: ignore[call-overload]
    try:
        watching.__enter__()
    except TorchTooOld as error:
        item.user_properties.append((NOT_WATCHED, str(error)))
        return str(error)
    item.stash[WATCHING] = watching, wish
    return ""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    __tracebackhide__ = True
    try:
        result = yield
    except BaseException as error:
        _add_section(item, _end(item, error))
        raise
    report = _end(item, None)
    if report is not None and not report.watched:
        _add_section(item, report)
        pytest.fail(f"{NOT_WATCHED}: {report.not_watched}", pytrace=False)
    if report is not None and _fails(report, item.stash[WATCHING][1]):
        pytest.fail(report.text(), pytrace=False)
    _add_section(item, report)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    __tracebackhide__ = True
    _end(item, None)  # still open where the setup failed
    return (yield)


def _end(item: pytest.Item, error: BaseException | None) -> WatchReport | None:
    watching, _ = item.stash.get(WATCHING, (None, None))
    if watching is None or watching.report.finished:
        return None
    skipped = isinstance(error, pytest.skip.Exception | pytest.xfail.Exception)
    told = None if skipped else error
    watching.__exit__(type(told) if told else None, told, None)
    report = watching.report
    item.user_properties.extend((PROPERTY, line(finding)) for finding in report.findings)
    if not report.watched:
        item.user_properties.append((NOT_WATCHED, report.not_watched))
    return report


def _add_section(item: pytest.Item, report: WatchReport | None) -> None:
    if report is not None and (report.findings or report.faults):
        item.add_report_section("call", "gradsan", report.text())


def _fails(report: WatchReport, wish: Wish) -> bool:
    from gradsan.api.errors import is_at_least

    return wish.fail_on != "never" and any(is_at_least(f, wish.fail_on) for f in report.findings)


def line(finding: Any) -> str:
    at = finding.culprit
    where = f"{at.file}:{at.line}: `{at.code}`: " if at is not None else ""
    return f"{finding.severity} {finding.rule} {finding.name} {where}{finding.message}"


# -- the summary -----------------------------------------------------------------------------------


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Findings of all tests, once each: those of tests that passed would go unseen otherwise."""
    tests: dict[str, int] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call":
                for text in dict.fromkeys(v for k, v in report.user_properties if k == PROPERTY):
                    tests[text] = tests.get(text, 0) + 1
    for reason, nodes in _not_watched(terminalreporter).items():
        tests[f"{NOT_WATCHED}: {reason}"] = len(nodes)
    if tests:
        terminalreporter.section("gradsan")
        for text, count in sorted(tests.items()):
            terminalreporter.line(text + (f" (in {count} tests)" if count > 1 else ""))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Tests that could not be watched fail; where all of them were expected to fail, the session does."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == pytest.ExitCode.OK and reporter is not None and _not_watched(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _not_watched(terminalreporter: pytest.TerminalReporter) -> dict[str, set[str]]:
    """The reasons, and the tests that have them."""
    found: dict[str, set[str]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for key, reason in getattr(report, "user_properties", ()):
                if key == NOT_WATCHED:
                    found.setdefault(reason, set()).add(report.nodeid)
    return found
