"""Observe → record → judge → render: every room may know only what stands before it, read off its imports."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "gradsan"
PUBLIC = {"gradsan"}
FACTS = {"record", "judge"}
LAST_RESORT = {
    "observe.headroom",
    "observe.import_hook",
    "observe.interruptions",
    "observe.last_resort",
}  # what holds before and after a session, too

# What the modules of each room may import from gradsan beside their own room: whole rooms or single modules.
MAY_KNOW: dict[str, set[str]] = {
    "record": set(),
    "observe": {"record"},
    "judge": {"record", *PUBLIC},
    "rules": FACTS,
    "picture": FACTS,
    "lock": {*FACTS, "picture.naming", "picture.reduction", "rules.base"},
    "fix": {"judge.report.findings", "judge.lines.source"},
    "render": {
        "judge.report.causes",
        "judge.report.findings",
        "judge.lines.source",
        "picture.model",
        "fix",
        "rules",
        *PUBLIC,
    },
    "lint": {"judge.report.findings", "judge.lines.source", "judge.report.suppressions", "rules"},
    "follow": {*FACTS, "render.page", "runner.watch"},
    "runner": {
        *FACTS,
        *LAST_RESORT,
        "lock.sink",
        "observe.training.consumption",
        "observe.patches",
        "observe.session",
        "picture.collector",
    },
    "processes": {
        *FACTS,
        *LAST_RESORT,
        "picture",
        "render.fresh_line",
        "render.live",
        "rules",
        "runner",
    },
    "api": {*FACTS, "lock.sink", "observe", "render", "rules", "runner", *PUBLIC},
    "integrations": {"api", "judge.report.cells", "judge.report.findings", "runner.packages"},
    "pytest": {
        "api",
        "judge.report.baseline",
        "judge.report.baseline_file",
        "judge.engine",
        "judge.report.findings",
        "lock",
        "render.output",
        "runner.versions",
        *PUBLIC,
    },
    "rl": PUBLIC,
    "learn": PUBLIC,
}
# The engine asks the rules, and the catalogue says which there are; no rule knows either of them.
ENGINE = {"judge.engine", "judge.arbitration", "judge.report.selection"}
# A report may carry a picture and repairs to whoever draws them, for their types only; `print(finding)` reads like the
# terminal.
# A warning is put back on the user's line by what a traceback would leave out.
ALSO = {
    "judge.report.findings": {"fix.repair", "picture.model", "render.text"},
    "observe.warning_places": {"runner.tracebacks"},
    **{
        module: {"rules"}
        for module in (*ENGINE, "judge.report.baseline", "judge.report.comments", "judge.report.suppressions")
    },
}
WITHOUT_TORCH = ("record", "judge", "rules", "render", "picture", "lock", "fix", "follow", "lint")


def modules() -> list[str]:
    files = (f for f in PACKAGE.rglob("*.py") if "exercises" not in f.parts)
    names = [".".join(f.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__") for f in files]
    return sorted(name for name in names if name.split(".")[0] in MAY_KNOW)


def tree_of(module: str) -> ast.Module:
    path = PACKAGE / Path(*module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(source.read_text(encoding="utf-8"))


def imports(module: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


def classes(module: str) -> set[str]:
    return {node.name for node in ast.walk(tree_of(module)) if isinstance(node, ast.ClassDef)}


def is_among(name: str, allowed: set[str]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in allowed)


def test_a_module_imports_only_from_rooms_that_its_own_may_know() -> None:
    wrong = {}
    for module in modules():
        room = module.split(".")[0]
        allowed = {room} | MAY_KNOW[room] | ALSO.get(module, set())
        ours = {name.removeprefix("gradsan.") for name in imports(module) if name.split(".")[0] == "gradsan"}
        if found := {name for name in ours if not is_among(name, allowed)}:
            wrong[module] = found
    assert not wrong


def test_no_rule_knows_the_engine() -> None:
    rules = [module for module in modules() if module.split(".")[0] == "rules"]
    known = {m: {name.removeprefix("gradsan.") for name in imports(m)} & ENGINE for m in rules}
    assert rules
    assert not {module: names for module, names in known.items() if names}


def test_only_those_who_watch_touch_tensors() -> None:
    without = [module for module in modules() if module.split(".")[0] in WITHOUT_TORCH]
    assert not [m for m in without if any(name.split(".")[0] == "torch" for name in imports(m))]


def test_no_two_rooms_have_a_class_of_one_name() -> None:
    """A reader who meets `Verdict` knows whose it is. The course's solutions are the learner's classes, not ours."""
    rooms: dict[str, set[str]] = {}
    for module in modules():
        if "solutions" not in module:
            for name in classes(module):
                rooms.setdefault(name, set()).add(module.split(".")[0])
    assert rooms
    assert not {name: found for name, found in rooms.items() if len(found) > 1}
