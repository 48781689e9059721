"""The documentation says what the program does: pages are fresh, links lead somewhere, options exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import api_page
import gradsan
import rule_pages
from gradsan.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s#]+)[^)]*\)")


def test_the_rule_pages_are_what_the_rules_say() -> None:
    """If this fails: `make docs-rules`, and commit."""
    written = {path.name: path.read_text(encoding="utf-8") for path in rule_pages.FOLDER.glob("*.md")}
    assert written == rule_pages.pages()


def test_the_api_reference_is_what_the_docstrings_say() -> None:
    """If this fails: `make docs-rules`, and commit. By itself: Lightning patches what it finds when it is imported."""
    command = [sys.executable, "-c", "import api_page; print(api_page.page(), end='')"]
    made = subprocess.run(command, cwd=ROOT / "scripts", capture_output=True, text=True, check=True).stdout
    assert api_page.PAGE.read_text(encoding="utf-8") == made


def test_every_public_name_is_in_the_api_reference() -> None:
    assert set(gradsan.__all__) - {"__version__"} <= set(api_page.PUBLIC["gradsan"])


def test_writing_the_pages_removes_those_of_rules_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "GS999-gone.md").write_text("old", encoding="utf-8")
    rule_pages.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(rule_pages.pages())


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_every_link_leads_to_a_file(page: Path) -> None:
    prose = re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8"))
    for target in LINK.findall(prose):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), target


def _commands() -> list[tuple[str, str]]:
    """Every line of every page that calls gradsan, with the page it stands on."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        lines = re.findall(r"(?:^|`|\s)gradsan ([a-z].*?)(?:`|$)", text, re.MULTILINE)
        found += [(str(page.relative_to(DOCS)), line) for line in lines]
    checked = set(COMMANDS) - {"train"}  # its options are those of the algorithm
    return [(page, line) for page, line in found if line.split()[0] in checked]


def test_every_option_that_is_written_about_exists() -> None:
    commands = _commands()
    assert len(commands) > 20
    with click.Context(main) as context:
        for page, line in commands:
            name, *words = line.split()
            command = main.get_command(context, name)
            assert command is not None
            known = {option for param in command.params for option in param.opts} | {"--help"}
            own = words[
                : next((i for i, w in enumerate(words) if w.endswith(".py") or w == "-m"), len(words))
            ]
            for word in (w.split("=")[0] for w in own if re.match(r"--[a-z]", w)):
                assert word.rstrip(".,:;)") in known, f"{page}: gradsan {line}"
