"""The report as one HTML file that needs nothing else: no network, no other file.

Text is written by the template, which escapes everything; pictures are drawn in the browser from data that
is inlined as JSON. The page's own policy lets no other script run than the ones put in here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import textwrap
from dataclasses import asdict
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup, escape

from gradsan import __version__
from gradsan.fix.shown import diff, standing
from gradsan.judge.lines.source import shown_path
from gradsan.judge.report.causes import by_cause
from gradsan.judge.report.findings import SEVERITIES, Finding, Report
from gradsan.picture.model import Picture
from gradsan.render.explanation import sections
from gradsan.render.how_often import how_often
from gradsan.render.html.listing import highlighted, listing, styles
from gradsan.render.page import plain
from gradsan.render.text import ROLES, gone, where_met
from gradsan.rules import find

ASSETS = files("gradsan.render.html") / "assets"
FLOW_SCRIPTS = ("vendor/dagre.js", "page.js", "flow.js")
SCRIPTS = ("vendor/dagre.js", "vendor/uplot.js", "page.js", "flow.js", "charts.js")
STYLES = ("vendor/uplot.css", "style.css")
LICENCES = ("uplot", "dagre")


def render(report: Report) -> str:
    picture = report.picture or Picture()
    scripts = [_asset(name) for name in SCRIPTS]
    return _environment().get_template("report.html").render(
        report=report,
        script=_script(report.script),
        version=__version__,
        counts={s: sum(f.severity == s for f in report.findings) for s in reversed(SEVERITIES)},
        findings=[_finding(number, finding, picture) for number, finding in enumerate(report.findings)],
        causes=by_cause(report.findings),
        picture=picture,
        rules=_rules(report),
        not_evaluated=_not_evaluated(report),
        gone=gone(report),
        drawn=list(dict.fromkeys([x.process for x in picture.losses] + [x.process for x in picture.charts])),
        scripts=[Markup(script) for script in scripts],
        style=Markup("\n".join([*(_asset(name) for name in STYLES), styles()])),
        policy="; ".join(_policy(scripts)),
        licences={name: _asset(f"vendor/{name}.LICENSE") for name in LICENCES},
        data=_data(report, picture),
    )  # fmt: skip


def _script(script: str) -> str:
    """Relative to the working directory, or the name alone: a report is passed on, and the machine's own
    folders are nobody's business."""
    if not os.path.isabs(script):
        return script
    shown = shown_path(script)
    return os.path.basename(script) if os.path.isabs(shown) else shown


def frame(report: Report) -> str:
    """The gradient flow alone, as a page of its own: what a notebook shows below the findings."""
    picture = report.picture or Picture()
    scripts = [_asset(name) for name in FLOW_SCRIPTS]
    return _environment().get_template("frame.html").render(
        picture=picture,
        scripts=[Markup(script) for script in scripts],
        style=Markup(_asset("style.css")),
        policy="; ".join(_policy(scripts)),
        data=_data(report, Picture(losses=picture.losses)),
    )  # fmt: skip


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["prose"] = prose
    environment.filters["how_often"] = how_often
    environment.filters["where_met"] = where_met
    return environment


def _asset(name: str) -> str:
    return ASSETS.joinpath(name).read_text(encoding="utf-8")


@jinja2.pass_context
def _finalize(context: jinja2.runtime.Context, value: Any) -> Any:
    """With a context it is left for the rendering: while it compiles, Jinja keeps the faults it meets to itself."""
    return _clean(value)


def _clean(value: Any) -> Any:
    """Control characters and text direction marks say nothing in a report, and could mislead in it."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return "\n".join(plain(line) for line in value.split("\n"))
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value


def prose(text: str) -> Markup:
    """Escaped, with what stands between backticks as code."""
    parts = str(escape(_clean(text))).split("`")
    if len(parts) % 2 == 0:
        return Markup("`".join(parts))
    return Markup("".join(f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts)))


def _policy(scripts: list[str]) -> list[str]:
    """Only these very scripts may run, and nothing may be loaded from anywhere."""
    hashes = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    allowed = " ".join(f"'sha256-{h}'" for h in hashes)
    return ["default-src 'none'", f"script-src {allowed}", "style-src 'unsafe-inline'", "base-uri 'none'",
            "form-action 'none'"]  # fmt: skip


def _finding(number: int, finding: Finding, picture: Picture) -> dict[str, Any]:
    return {
        "number": number,
        "is": finding,
        "story": [(ROLES.get(site.role, site.role), site.location) for site in finding.sites],
        "listing": listing(finding, ROLES),
        "diff": _diff(finding),
        "standing": standing(finding),
        "losses": [n for n, loss in enumerate(picture.losses) if number in loss.findings],
    }


def _diff(finding: Finding) -> list[tuple[str, Markup]]:
    lines = [line for line in diff(finding) if line[:1] != "@" and line[1:].strip()]
    codes = textwrap.dedent("\n".join(line[1:] for line in lines)).split("\n")
    return [(line[:1], highlighted(code)) for line, code in zip(lines, codes, strict=False)]


def _rules(report: Report) -> list[tuple[Any, list[tuple[str, str, list[Markup]]]]]:
    rules = [rule for code in dict.fromkeys(f.rule for f in report.findings) if (rule := find(code))]
    return [
        (rule, [(title, text, highlighted(code).splitlines()) for title, text, code in sections(rule)])
        for rule in rules
    ]


def _not_evaluated(report: Report) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for entry in report.not_evaluated:
        reasons.setdefault(entry["reason"], []).append(entry["rule"])
    return reasons


def _data(report: Report, picture: Picture) -> Markup:
    """JSON that no string in it can break out of its script element with."""
    marks = [
        {"rule": f.rule, "name": f.name, "severity": f.severity, "iteration": f.first_iteration}
        for f in report.findings
    ]
    data = {
        "losses": [asdict(loss) for loss in picture.losses],
        "charts": [asdict(chart) for chart in picture.charts],
        "deep": picture.deep,
        "iterations": report.iterations,
        "findings": marks,
    }
    text = json.dumps(_clean(data), separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
