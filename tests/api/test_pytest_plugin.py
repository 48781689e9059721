"""The pytest plugin, run as a user runs it."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
import torch

from gradsan.observe.session import Session

pytest_plugins = ["pytester"]

TRAINING = """
import pytest
import torch

def train(zero, retain=False):
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(12):
        loss = (net(torch.ones(8, 3)) - 1.0).pow(2).mean()
        if zero:
            opt.zero_grad()
        loss.backward(retain_graph=retain)
        opt.step()  # stale
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CI", raising=False)  # there pytest repeats whole messages in its summary
    monkeypatch.delenv("BUILD_NUMBER", raising=False)

    def run(tests: str, *args: str) -> pytest.RunResult:
        pytester.makepyfile(TRAINING + tests)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", *args)

    return run


STALE = """
def test_stale():
    train(zero=False)

def test_clean():
    train(zero=True)
"""


def test_without_the_flag_nothing_is_watched(run) -> None:
    result = run(STALE)
    result.assert_outcomes(passed=2)
    result.stdout.no_fnmatch_line("*gradsan*GS401*")


def test_with_the_flag_every_test_is_and_the_failure_shows_the_source_lines(run) -> None:
    result = run(STALE, "--gradsan")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*test_stale*",
            "error GS401 stale-gradient *",
            "*❱ *opt.step()  # stale",
            "*fix*zero_grad*",
            "*= gradsan =*",
            "error GS401 stale-gradient *.py:*",
        ]
    )
    assert str(result.stdout).count("❱") == 1


RETAINED = """
def test_plain():
    train(zero=True, retain=True)

@pytest.mark.gradsan(fail_on="warning")
def test_strict():
    train(zero=True, retain=True)

@pytest.mark.gradsan(fail_on="warning", ignore=["GS406"])
def test_ignored():
    train(zero=True, retain=True)

@pytest.mark.gradsan(mode="off")
def test_off():
    train(zero=False)
"""


def test_marks_set_severity_ignored_rules_and_exemption(run) -> None:
    result = run(RETAINED, "--gradsan", "-v")
    result.stdout.fnmatch_lines(
        ["*::test_plain PASSED*", "*::test_strict FAILED*", "*::test_ignored PASSED*", "*::test_off PASSED*"]
    )
    result.stdout.fnmatch_lines(["warning GS406 retained-graph *(in 2 tests)"])


def test_a_marked_test_is_watched_without_the_flag(run) -> None:
    result = run(
        """
@pytest.mark.gradsan
def test_marked():
    train(zero=False)

def test_other():
    train(zero=False)
"""
    )
    result.assert_outcomes(passed=1, failed=1)


def test_the_nearest_mark_wins_and_ignored_rules_add_up(run) -> None:
    result = run(
        """
pytestmark = pytest.mark.gradsan(fail_on="warning", ignore="GS406")

@pytest.mark.gradsan(fail_on="never")
def test_never():
    train(zero=False)

@pytest.mark.gradsan(ignore="stale-gradient")
def test_both_ignored():
    train(zero=False, retain=True)

def test_module_mark():
    train(zero=False)
"""
    )
    result.assert_outcomes(passed=2, failed=1)


def test_options_set_the_defaults(run) -> None:
    run(RETAINED, "--gradsan", "--gradsan-fail-on", "warning").assert_outcomes(passed=2, failed=2)
    run(STALE, "--gradsan", "--gradsan-ignore", "GS401").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("fail_on='fatal'", "*fail_on must be one of*"),
        ("level=3", "*takes no 'level'*"),
        ("'GS4'", "*no positional*"),
        ("ignore='GS999'", "*no rule 'GS999'*"),
    ],
)
def test_a_wrong_mark_is_an_error_that_says_so(run, mark: str, words: str) -> None:
    result = run(f"@pytest.mark.gradsan({mark})\ndef test_it():\n    pass\n")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([words])


def test_the_fixture_gives_the_live_report_and_leaves_the_judgement_to_the_test(run) -> None:
    result = run(
        """
@pytest.fixture
def net():
    return torch.nn.Linear(3, 1)

def test_judges_itself(gradsan_report, net):
    train(zero=False)
    assert [f.rule for f in gradsan_report.findings] == ["GS401"]

@pytest.mark.gradsan(fail_on="error")
def test_judged_as_well(gradsan_report):
    train(zero=False)
"""
    )
    result.assert_outcomes(passed=1, failed=1)


def test_what_fixtures_make_is_seen(run) -> None:
    result = run(
        """
@pytest.fixture
def agent():
    net = torch.nn.ModuleList([torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)])
    return net, torch.optim.SGD(net.parameters(), lr=0.1)  # in the fixture

@pytest.mark.gradsan(fail_on="warning")
def test_unused(agent):
    net, opt = agent
    for _ in range(6):
        opt.zero_grad()
        net[0](torch.ones(3)).sum().backward()
        opt.step()
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*GS204*", "*❱ *# in the fixture"])


def test_an_error_of_pytorchs_is_explained_in_the_report_section(run) -> None:
    result = run(
        """
def test_it():
    y = torch.ones(3, requires_grad=True).exp()
    y += 1  # changed
    y.sum().backward()
""",
        "--gradsan",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*RuntimeError: one of the variables*",
            "*Captured gradsan call*",
            "*GS101*",
            "*❱ *y += 1  # changed",
        ]
    )


def test_skips_expected_failures_and_broken_fixtures_stay_what_they_are(run) -> None:
    result = run(
        """
@pytest.fixture
def broken():
    raise ValueError("broken")

def test_skipped():
    pytest.skip("no")

@pytest.mark.xfail
def test_expected():
    train(zero=False)

def test_error(broken):
    pass

def test_after():
    train(zero=True)
""",
        "--gradsan",
    )
    result.assert_outcomes(passed=1, skipped=1, xfailed=1, errors=1)


def test_the_plugin_does_not_show_in_anybodys_tracebacks(run) -> None:
    result = run(
        """
@pytest.fixture
def broken():
    yield
    raise ValueError("in the teardown")

def test_it(broken):
    assert False
"""
    )
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.no_fnmatch_line("*pytest/plugin.py*")


def test_junit_xml_holds_the_findings_of_failed_and_of_passed_tests(run, pytester: pytest.Pytester) -> None:
    run(STALE + RETAINED, "--gradsan", "--junit-xml=out.xml")
    cases = {c.get("name"): c for c in ET.parse(pytester.path / "out.xml").iter("testcase")}
    assert "opt.step()  # stale" in cases["test_stale"].find("failure").text
    found = {name: [p.get("value") for p in case.iter("property")] for name, case in cases.items()}
    assert found["test_plain"][0].startswith("warning GS406 retained-graph ")
    assert "`loss.backward(retain_graph=retain)`" in found["test_plain"][0]
    assert found["test_clean"] == []


def test_with_xdist_the_findings_come_back_from_the_workers(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TRAINING + STALE + RETAINED)
    result = pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "-n", "1", "--gradsan", "--junit-xml=out.xml"
    )
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(["*❱ *opt.step()  # stale", "*= gradsan =*", "error GS401 stale-gradient *"])
    properties = [p.get("value") for p in ET.parse(pytester.path / "out.xml").iter("property")]
    assert any(value.startswith("error GS401") for value in properties)


def test_torch_is_not_imported_for_tests_that_do_not(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
import sys

def test_it():
    assert "torch" not in sys.modules
    assert "numpy" not in sys.modules
"""
    )
    pytester.runpytest_subprocess("--gradsan", "-p", "no:xdist").assert_outcomes(passed=1)
    pytester.makepyfile(
        """
import sys

def test_it():
    assert not [name for name in sys.modules if name.startswith(("gradsan.", "torch", "rich", "click"))
                and not name.startswith("gradsan.pytest")]
"""
    )
    pytester.runpytest_subprocess("-p", "no:xdist").assert_outcomes(passed=1)


# -- settings, comments, baseline ------------------------------------------------------------------


def test_select_and_the_other_options_also_stand_in_the_ini_file(run, pytester: pytest.Pytester) -> None:
    both = STALE + RETAINED.replace('(fail_on="warning")', "()")
    pytester.makeini("[pytest]\ngradsan = true\ngradsan_select = GS406 GS402\ngradsan_fail_on = warning")
    result = run(both, "-v", "-k", "stale or plain")
    result.stdout.fnmatch_lines(["*::test_stale PASSED*", "*::test_plain FAILED*"])
    result = run(both, "-v", "-k", "stale or plain", "--gradsan-select", "GS401")
    result.stdout.fnmatch_lines(["*::test_stale FAILED*", "*::test_plain PASSED*"])


def test_pyproject_counts_less_than_the_ini_file_and_can_be_left_out(run, pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml("[tool.gradsan]\nignore = ['GS401']\nfail-on = 'warning'")
    run(STALE + RETAINED, "--gradsan", "-k", "stale or plain").assert_outcomes(
        passed=1, failed=1, deselected=4
    )
    run(STALE, "--gradsan", "--gradsan-no-config").assert_outcomes(passed=1, failed=1)
    pytester.makeini("[pytest]\ngradsan_ignore = GS402")
    run(STALE, "--gradsan").assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize(
    ("ini", "args", "words"),
    [
        ("gradsan_mode = deeep", [], "*gradsan_mode = deeep: it must be one of adaptive, deep, light*"),
        ("gradsan_select = GS999", [], "*there is no rule 'GS999'*"),
        ("", ["--gradsan-include", "tortch"], "*no package 'tortch'; did you mean torch?*"),
        ("", ["--gradsan-baseline", "no.json"], "*cannot read the baseline 'no.json': No such file*"),
        ("", ["--gradsan-write-baseline", "no/b.json"], "*cannot write 'no/b.json': No such file*"),
        ("", ["--gradsan-config", "no.toml"], "*no.toml: No such file or directory*"),
        ("", ["--gradsan-config", "a", "--gradsan-no-config"], "*not both*"),
    ],
)
def test_a_wrong_setting_is_told_before_any_test_runs(
    run, pytester, ini: str, args: list, words: str
) -> None:
    pytester.makeini(f"[pytest]\n{ini}")
    result = run(STALE, "--gradsan", *args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([words])


def test_a_baseline_is_written_and_then_only_new_findings_fail(run, pytester: pytest.Pytester) -> None:
    two = STALE + "\ndef test_stale_again():\n    train(zero=False)\n"
    result = run(two, "--gradsan", "--gradsan-write-baseline", "known.json")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*the findings are written to known.json"])
    text = (pytester.path / "known.json").read_text()
    assert text.count('"rule"') == 1  # one line of code, in two tests
    result = run(two, "--gradsan", "--gradsan-baseline", "known.json")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["1 finding is known from the baseline"])
    result = run(RETAINED, "--gradsan", "--gradsan-baseline", "known.json", "--gradsan-fail-on", "warning")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["baseline GS401 *.py in train: `opt.step()` did not occur"])


def test_a_baseline_in_pyproject_is_brought_up_to_date(run, pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml("[tool.gradsan]\nbaseline = 'known.json'")
    run(STALE, "--gradsan", "--gradsan-write-baseline", "known.json").assert_outcomes(passed=2)
    run(STALE, "--gradsan").assert_outcomes(passed=2)
    run(STALE.replace("False", "True"), "--gradsan", "--gradsan-write-baseline", "known.json")
    assert "opt.step" not in (pytester.path / "known.json").read_text()


def test_a_test_that_judges_by_itself_sees_everything(run) -> None:
    itself = """
def test_itself(gradsan_report):
    train(zero=False)
    assert [f.rule for f in gradsan_report.findings] == ["GS401"]
"""
    run(itself + STALE, "--gradsan", "--gradsan-write-baseline", "known.json").assert_outcomes(passed=3)
    run(itself + STALE, "--gradsan", "--gradsan-baseline", "known.json").assert_outcomes(passed=3)


COMMENTED = """
def update(net, opt, zero):
    (net(torch.ones(8, 3)) - 1.0).pow(2).mean().backward()
    opt.step()  # gradsan: allow stale-gradient
    if zero:
        opt.zero_grad()

@pytest.mark.parametrize("zero", [True, False])
def test_commented(zero):
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(20):
        update(net, opt, zero)
        x = 1  # gradsan: allow stale-gradiant
"""


@pytest.mark.parametrize("workers", [["-p", "no:xdist"], ["-n", "1"]], ids=["here", "xdist"])
def test_comments_are_told_for_all_tests_together(pytester: pytest.Pytester, workers: list[str]) -> None:
    pytester.makepyfile("import pytest\nimport torch\n" + COMMENTED)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *workers, "--gradsan")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "comment *:*: there is no rule 'stale-gradiant'; did you mean stale-gradient?",
            "1 finding is silenced*",
        ]
    )
    result.stdout.no_fnmatch_line("*silenced nothing*")  # in one of the tests, but not in the other


# -- what cannot be watched --------------------------------------------------------------------------


def untappable(session: Session) -> Session:
    raise AttributeError("no tap fits")


WHY = "the taps could not be installed (AttributeError: no tap fits)"
EXPECTED = """
@pytest.mark.xfail
def test_expected():
    train(zero=False)

@pytest.mark.gradsan(mode="off")
def test_off():
    train(zero=False)
"""


def test_a_test_that_could_not_be_watched_fails(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "__enter__", untappable)
    result = run(STALE, "--gradsan", "--gradsan-fail-on", "never")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines([f"gradsan could not watch: {WHY} (in 2 tests)"])
    run(STALE).assert_outcomes(passed=2)


def test_the_session_fails_even_if_all_its_tests_may(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "__enter__", untappable)
    result = run(EXPECTED, "--gradsan")
    result.assert_outcomes(passed=1, xfailed=1)
    result.stdout.fnmatch_lines([f"gradsan could not watch: {WHY}"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_torch_that_is_too_old_is_refused_with_one_sentence(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.4.1+cu121")
    result = run(STALE, "--gradsan")
    result.assert_outcomes(errors=2)
    result.stdout.no_fnmatch_line("*During handling*")
    sentence = "gradsan needs torch 2.6 or newer; this is 2.4.1"
    result.stdout.fnmatch_lines(["*ERROR at setup of test_stale*", sentence])
    result.stdout.fnmatch_lines([f"gradsan could not watch: {sentence} (in 2 tests)"])
