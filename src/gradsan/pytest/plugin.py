"""`pytest --gradsan`: every test under the sanitizer. Nothing of it is imported until it is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from gradsan.pytest import locks
from gradsan.pytest.defaults import add_options, baseline_of
from gradsan.pytest.options import MARK, Wish, wish_of
from gradsan.pytest.summary import Collector, facts

if TYPE_CHECKING:
    from gradsan.api.report import WatchReport
    from gradsan.api.watch_context import WatchContext
    from gradsan.judge.report.baseline import Baseline

PROPERTY = "gradsan"  # of a test's report: one line per finding, in JUnit XML and across xdist workers
COLLECTOR: pytest.StashKey[Collector] = pytest.StashKey()
FACTS: pytest.StashKey[dict[str, Any]] = pytest.StashKey()
NOT_WATCHED = "gradsan could not watch"  # a property, too: why
WATCHING: pytest.StashKey[tuple[WatchContext, Wish]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARK)
    config.stash[COLLECTOR] = Collector(config)
    config.pluginmanager.register(config.stash[COLLECTOR], "gradsan-collector")
    target = config.getoption("--gradsan-write-baseline")
    if target:
        from gradsan.render.output import OutputError, OutputFile

        try:
            OutputFile(target)
        except OutputError as error:
            raise pytest.UsageError(str(error)) from None


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
        if wish is not None:
            from gradsan.api.watch import chosen, packages

            baseline_of(item.config)
            locks.follower(item)
            try:
                chosen(wish.select, wish.ignore)
                packages(wish.include)
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
    from gradsan.api.watch import chosen
    from gradsan.api.watch_context import Wanted, WatchContext
    from gradsan.runner.versions import TorchTooOld

    known = None if wish.is_judged_by_test else baseline_of(item.config)
    rules = chosen(wish.select, wish.ignore)
    lock = locks.follower(item)
    watching = WatchContext(Wanted(wish.mode, rules, None, None, wish.include, None, known, lock))
    watching.speaks = False
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
    if report is not None and (unknown := locks.failure(item, report)):
        pytest.fail(unknown, pytrace=False)
    writes = any(item.config.getoption(f"--gradsan-write-{what}") for what in ("baseline", "lock"))
    if report is not None and not writes and _fails(report, item.stash[WATCHING][1]):
        pytest.fail(report.text(), pytrace=False)
    _add_section(item, report)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    __tracebackhide__ = True
    _end(item, None)  # still open where the setup failed
    return (yield)


def _end(item: pytest.Item, error: BaseException | None) -> WatchReport | None:
    watching, wish = item.stash.get(WATCHING, (None, None))
    if watching is None or wish is None or watching.report.finished:
        return None
    skipped = isinstance(error, pytest.skip.Exception | pytest.xfail.Exception)
    told = None if skipped else error
    watching.__exit__(type(told) if told else None, told, None)
    report = watching.report
    item.user_properties.extend((PROPERTY, line(finding)) for finding in report.findings)
    if not report.watched:
        item.user_properties.append((NOT_WATCHED, report.not_watched))
    item.stash[FACTS] = facts(report.snapshot(), None if wish.is_judged_by_test else _book(item.config))
    item.stash[FACTS]["lock"] = locks.entry(item)
    return report


def _book(config: pytest.Config) -> Baseline | None:
    """The baseline that is read, or else an empty one in the place of the one to be written."""
    from gradsan.judge.report.baseline import Baseline

    target = config.getoption("--gradsan-write-baseline")
    return baseline_of(config) or (Baseline(target, Counter()) if target else None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    if call.when == "call" and FACTS in item.stash:
        report.gradsan = item.stash[FACTS]
    return report


def _add_section(item: pytest.Item, report: WatchReport | None) -> None:
    if report is not None and (report.findings or report.faults):
        item.add_report_section("call", "gradsan", report.text())


def _fails(report: WatchReport, wish: Wish) -> bool:
    from gradsan.api.errors import is_at_least

    return wish.fail_on != "never" and any(is_at_least(f, wish.fail_on) for f in report.findings)


def line(finding: Any) -> str:
    at = finding.culprit
    where = f"{at.place}: `{at.code}`: " if at is not None else ""
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
    more = terminalreporter.config.stash[COLLECTOR].lines()
    target = terminalreporter.config.getoption("--gradsan-write-baseline")
    if target:
        more.append(f"the findings are written to {target}")
    if tests or more:
        terminalreporter.section("gradsan")
        for text, count in sorted(tests.items()):
            terminalreporter.line(text + (f" (in {count} tests)" if count > 1 else ""))
        for text in more:
            terminalreporter.line(text)


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
