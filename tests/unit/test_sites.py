"""Which lines count as the user's."""

from __future__ import annotations

import linecache
import sys

from gradsan.observe.sites import CALLERS, Sites
from gradsan.record.events import ChainSeen, SiteSeen

SOURCE = "import sys\ndef here():\n    return sys._getframe()\n"


def frame_of(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SOURCE)
    space = {}
    exec(compile(SOURCE, str(path), "exec"), space)
    return space["here"]()


def test_equal_functions_in_two_files_keep_their_own_files(tmp_path):
    seen = []
    sites = Sites(seen.append)
    library = frame_of(tmp_path / "site-packages" / "lib.py")
    mine, yours = frame_of(tmp_path / "mine.py"), frame_of(tmp_path / "yours.py")
    assert library.f_code == mine.f_code == yours.f_code
    assert not sites.is_user(library.f_code)
    assert sites.is_user(mine.f_code)
    sites.here(mine)
    sites.here(yours)
    assert [s.file for s in seen] == [str(tmp_path / "mine.py"), str(tmp_path / "yours.py")]


def test_code_without_a_source_is_nobodys(monkeypatch):
    monkeypatch.delitem(linecache.cache, "<string>", raising=False)  # code of `-c`, run by another test
    space = {"sys": sys}
    exec(compile("def here():\n    return sys._getframe()\n", "<string>", "exec"), space)
    assert not Sites(lambda event: None).is_user(space["here"]().f_code)


def test_an_included_package_may_be_a_module_or_a_part_of_one(tmp_path):
    installed = tmp_path / "site-packages"
    files = [installed / "six.py", installed / "sixth.py", installed / "a" / "b" / "c.py"]
    for include, mine in ((), []), (("six",), files[:1]), (("a.b",), files[2:]), (("a", "six"), files[::2]):
        sites = Sites(lambda event: None, include)
        assert [file for file in files if sites.is_user_file(str(file))] == mine


HELPERS = """\
import sys

def helper(sites):
    return sites.place(sys._getframe())

def caller(sites):
    return [helper(sites) for _ in range(2)][0]

def other(sites):
    return helper(sites)

def deep(sites, times):
    return deep(sites, times - 1) if times else helper(sites)
"""


def test_a_place_knows_the_lines_it_was_called_from(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(HELPERS)
    space = {"__name__": "mine"}
    exec(compile(HELPERS, str(path), "exec"), space)
    seen = []
    sites = Sites(seen.append)
    one, again, two = space["caller"](sites), space["caller"](sites), space["other"](sites)
    lines = {event.site: event.line for event in seen if isinstance(event, SiteSeen)}
    chains = {
        event.chain: [lines[site] for site in event.sites] for event in seen if isinstance(event, ChainSeen)
    }
    assert one.site == two.site
    assert lines[one.site] == 4
    assert chains[one.chain][0] == 7
    assert chains[two.chain][0] == 10
    assert len(chains[one.chain]) <= CALLERS
    assert again.chain == one.chain != two.chain


def test_a_recursion_does_not_make_ever_new_chains(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(HELPERS)
    space = {"__name__": "mine"}
    exec(compile(HELPERS, str(path), "exec"), space)
    sites = Sites(lambda event: None)
    chains = {space["deep"](sites, times).chain for times in range(8, 40)}
    assert len(chains) == 1
