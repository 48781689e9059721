"""GS306: a target network that is another name for the online network."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan.lint.mistake import Mistake
from gradsan.lint.names import dotted
from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile

SYNCING = ("update", "sync", "polyak", "copy")  # in the name of a function that is given both networks
CONTENTS = ("parameters", "state_dict", "named_parameters", "load_state_dict")


def check(file: SourceFile) -> Iterator[Mistake]:
    for scope in file.scopes:
        for statement in scope.nodes:
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                continue
            target, online = dotted(statement.targets[0]), dotted(statement.value)
            if not _is_target(target) or not online or _is_target(online) or _is_a_choice(scope, statement):
                continue
            if not _is_bound_again(scope, statement, target) and _is_meant_apart(file, scope, target, online):
                yield Mistake(
                    "GS306",
                    scope,
                    statement,
                    f"`{target}` and `{online}` are one and the same network from here on",
                    (("alias", statement),),
                )


def _is_target(name: str) -> bool:
    return "target" in name.rpartition(".")[2].lower()


def _is_bound_again(scope: Scope, statement: ast.Assign, target: str) -> bool:
    """`self.target = copy.deepcopy(self.target)` on one of the next lines makes it a network of its own."""
    later = (n for n in scope.nodes if isinstance(n, ast.Assign) and n.lineno > statement.lineno)
    return any(dotted(bound) == target for n in later for bound in n.targets)


def _is_a_choice(scope: Scope, statement: ast.Assign) -> bool:
    """One branch of a setting: with or without a target network. Every so many steps is no choice."""
    around = [n for n in scope.nodes if isinstance(n, ast.If) and statement in list(ast.walk(n))]
    periodic = [n for n in around if any(isinstance(part, ast.Mod) for part in ast.walk(n.test))]
    return len(around) != len(periodic) or any(n.orelse for n in around)


def _is_meant_apart(file: SourceFile, scope: Scope, target: str, online: str) -> bool:
    """The target is used as a network, and it is synced, or was a network of its own: both would be idle otherwise."""
    around = file.same_class(scope) if target.startswith("self.") else [scope, *scope.inner]
    calls = [call for where in around for call in where.calls()]
    if not any(dotted(call.func) in (target, f"{target}.forward") for call in calls):
        return False
    others = [v for v in file.bindings(scope, target) if v is not None and dotted(v) != online]
    had_its_own = any(file.is_module(scope, value) for value in others)
    return any(_syncs(call, target, online) for call in calls) or (
        had_its_own and file.is_module(scope, ast.parse(online, mode="eval").body)
    )


def _syncs(call: ast.Call, target: str, online: str) -> bool:
    """`target.load_state_dict(online.state_dict())`, `zip(target.parameters(), online.parameters())`, or a function
    that is given both and says so."""
    contents = {name for node in ast.walk(call) if (name := dotted(node)).rpartition(".")[2] in CONTENTS}
    if {target, online} <= {name.rpartition(".")[0] for name in contents}:
        return True
    given = {dotted(arg) for arg in [*call.args, *(k.value for k in call.keywords)]}
    return {target, online} <= given and any(word in dotted(call.func).lower() for word in SYNCING)
