"""`--format sarif`: valid by the official schema, whatever is in the report."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gradsan.judge.report.findings import Finding, Location, Report
from gradsan.render import render
from gradsan.render.page import Page
from gradsan.render.sarif import replacements
from gradsan.rules import catalogue
from sandbox import STALE, Sandbox

SCHEMA = json.loads(Path(__file__).with_name("sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)


def sarif(report: Report) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(render("sarif", report, Page()))
    VALIDATOR.validate(log)
    return log


def test_the_schema_refuses_what_is_not_sarif() -> None:
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate({"version": "2.1.0", "runs": [{"tool": {}}]})


def test_an_empty_report_is_valid_and_has_no_results() -> None:
    assert sarif(Report())["runs"][0]["results"] == []


def test_a_result_has_its_line_its_fix_and_the_story_as_a_code_flow(full_report: Report) -> None:
    run = sarif(full_report)["runs"][0]
    result = run["results"][0]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "train.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"]["startLine"] == 41
    assert result["message"]["text"].endswith("Fix: detach it")
    assert result["occurrenceCount"] == 7
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [s["location"]["physicalLocation"]["region"]["startLine"] for s in steps] == [41, 42]
    assert [s["location"]["message"]["text"] for s in steps] == ["target", "loss here"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_levels_and_odd_places(full_report: Report) -> None:
    first, nowhere, elsewhere, string = sarif(full_report)["runs"][0]["results"]
    assert (first["level"], nowhere["level"], elsewhere["level"]) == ("error", "warning", "note")
    assert "locations" not in nowhere
    uris = [r["locations"][0]["physicalLocation"]["artifactLocation"] for r in (elsewhere, string)]
    assert uris == [{"uri": "file:///elsewhere/lib.py"}, {"uri": "%3Cstring%3E", "uriBaseId": "%SRCROOT%"}]


def test_what_could_not_be_looked_at_is_told(full_report: Report) -> None:
    (invocation,) = sarif(full_report)["runs"][0]["invocations"]
    assert not invocation["executionSuccessful"]
    assert "boom" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    (blind,) = invocation["toolConfigurationNotifications"]
    assert blind["associatedRule"]["id"] == "GS202"
    assert "a compiled region" in blind["message"]["text"]


def test_an_error_that_no_rule_is_about_is_a_result_of_its_own_kind() -> None:
    raised, made = Location("train.py", 9, "", "np.mean(losses)"), Location("train.py", 5, "", "loss = f(x)")
    told = {"kind": "numpy-of-graph-tensor", "message": "Can't", "why": "no graph", "fix": "detach it"}
    places = {"where": asdict(raised), "raised": asdict(raised), "made": asdict(made), "stored": None}
    run = sarif(Report(errors_explained=[told | places]))["runs"][0]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "numpy-of-graph-tensor"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 9
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [s["location"]["physicalLocation"]["region"]["startLine"] for s in steps] == [5, 9]


def test_the_fingerprint_survives_lines_put_in_above(full_report: Report) -> None:
    prints = [r["partialFingerprints"] for r in sarif(full_report)["runs"][0]["results"]]
    assert len({str(p) for p in prints}) == len(prints)
    moved = full_report.findings[0]
    assert moved.culprit is not None
    object.__setattr__(moved.culprit, "line", 99)
    assert sarif(full_report)["runs"][0]["results"][0]["partialFingerprints"] == prints[0]


@pytest.mark.parametrize("after", [["a", "x", "c"], ["a", "c"], ["a", "b", "n", "c"], ["x", "y", "c", "z"]])
def test_a_fix_applied_gives_the_mended_source(after: list[str]) -> None:
    lines = ["a", "b", "c"]
    for change in reversed(replacements(lines, after)):
        region, text = change["deletedRegion"], change.get("insertedContent", {"text": ""})["text"]
        assert region["startColumn"] == region["endColumn"] == 1
        lines[region["startLine"] - 1 : region["endLine"] - 1] = text.splitlines()
    assert lines == after


def test_hostile_names_and_code_stay_data(hostile_report: Report) -> None:
    text = render("sarif", hostile_report, Page())
    assert text.isascii()
    log = sarif(hostile_report)
    assert "\\ud" not in text
    assert "\\u001b" not in text
    uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.startswith("dira%2Cb%3Ac%250A%1B")


@pytest.mark.parametrize("code", catalogue())
def test_every_rule_makes_a_valid_result_with_its_own_help(code: str) -> None:
    rule = catalogue()[code]
    found = Finding(code, rule.name, rule.severity, "a message", rule.fix, Location("a.py", 1, "f", "x"))
    run = sarif(Report(findings=[found]))["runs"][0]
    described = {r["id"]: r for r in run["tool"]["driver"]["rules"]}[code]
    assert run["results"][0]["ruleId"] == code
    assert described["name"] == rule.name
    assert " ".join(rule.why.split()) in described["help"]["text"]
    assert described["help"]["markdown"].startswith(f"# {code} {rule.name}\n")


def test_run_and_report_write_the_same_results(sandbox: Sandbox) -> None:
    script = sandbox.write("train.py", STALE)
    done = sandbox.gradsan("run", "--format", "sarif", "--output", "out.sarif", "--trace", "t", script)
    assert done.returncode == 1
    assert done.stdout == ""
    log = json.loads(sandbox.read("out.sarif"))
    VALIDATOR.validate(log)
    (change,) = log["runs"][0]["results"][0]["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    assert replacement["insertedContent"]["text"].strip() == "opt.zero_grad()"
    again = sandbox.gradsan("report", "t", "--format", "sarif")
    assert again.returncode == 1
    assert json.loads(again.stdout)["runs"][0]["results"] == log["runs"][0]["results"]
