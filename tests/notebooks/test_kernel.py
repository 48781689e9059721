"""gradsan in a real Jupyter kernel: one report, rich, with the cells' own names."""

from __future__ import annotations

import re

import pytest

from kernel import Executed

MODEL = """import torch, gradsan
torch.manual_seed(0)
def start():
    model = torch.nn.Linear(3, 1)
    return model, torch.optim.SGD(model.parameters(), lr=0.1)"""
STALE = """    for _ in range(5):
        loss = model(torch.ones(2, 3)).pow(2).mean()
        loss.backward()
        opt.step()"""
CLEAN = STALE.replace("        loss.backward()", "        opt.zero_grad()\n        loss.backward()")


def body(block: str) -> str:
    return re.sub("^    ", "", block, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def notebook() -> Executed:
    return Executed(
        MODEL,
        f"model, opt = start()\nwith gradsan.watch() as report:\n{STALE}",
        "report",
        "print(report)",
        "print(report.findings[0])",
        "culprit = report.findings[0].culprit\nprint(culprit.file, culprit.line, report.as_dict()['script'])",
        "%load_ext gradsan",
        f"%%gradsan --mode deep\nmodel, opt = start()\n{body(STALE)}\nmodel.weight.shape",
        f"%%gradsan\nmodel, opt = start()\n{body(CLEAN)}",
        f"%%gradsan --ignore GS401 --report kept\nmodel, opt = start()\n{body(STALE)}",
        "print(kept.findings)",
        f"%%gradsan --fail-on error\nmodel, opt = start()\n{body(STALE)}",
        f"@gradsan.watch\ndef train():\n    model, opt = start()\n{STALE}\ntrain()",
        "%%gradsan --mode deepest\n1",
        "%%gradsan\n1 / 0",
        "%%gradsan --select GS99\n1",
    )


def test_a_report_is_one_output(notebook: Executed) -> None:
    shown = notebook.shown(3)
    assert "GS401 stale-gradient" in shown["text/plain"]
    assert "GS401" in shown["text/html"]


def test_the_report_is_set_in_a_font_of_fixed_width(notebook: Executed) -> None:
    (style,) = re.findall(r'<pre [^>]*style="([^"]*)"', notebook.shown(3)["text/html"])
    assert "monospace" in style


def test_the_report_comes_with_the_flow_picture(notebook: Executed) -> None:
    html = notebook.shown(3)["text/html"]
    assert "<iframe" in html
    assert 'sandbox="allow-scripts"' in html
    assert "&#34;gradient&#34;" in html  # an edge of the picture, in the data of the frame


def test_printing_a_report_or_a_finding_prints_text(notebook: Executed) -> None:
    for number in (4, 5):
        assert [o.output_type for o in notebook.outputs(number)] == ["stream"]
        assert "GS401 stale-gradient" in notebook.printed(number)
        assert "In[2], line 6" in notebook.printed(number)
        assert "❱ 6 │" in notebook.printed(number)


def test_lines_are_named_by_their_cell(notebook: Executed) -> None:
    assert notebook.printed(6) == "In[2] 6 In[2]\n"
    assert "In[2], line 6" in notebook.shown(3)["text/plain"]
    assert "ipykernel" not in str(notebook.shown(3))


def test_the_magic_watches_a_cell_and_shows_its_last_value_too(notebook: Executed) -> None:
    report, value = notebook.outputs(8)
    assert "In[8], line 6" in report.data["text/plain"]
    assert "❱ 6 │" in report.data["text/plain"]
    assert report.data["text/plain"].endswith("(5 deep)")
    assert value.data["text/plain"] == "torch.Size([1, 3])"


def test_a_clean_cell_says_so_in_one_line(notebook: Executed) -> None:
    assert notebook.shown(9)["text/plain"] == "gradsan: no findings in 5 iterations (5 deep)"


def test_the_magic_takes_rules_and_keeps_its_report_under_a_name(notebook: Executed) -> None:
    assert "no findings" in notebook.shown(10)["text/plain"]
    assert notebook.printed(11) == "[]\n"


def test_a_cell_can_be_made_to_fail(notebook: Executed) -> None:
    report, error = notebook.outputs(12)
    assert "GS401" in report.data["text/plain"]
    assert (error.output_type, error.ename) == ("error", "GradientError")


def test_what_is_shown_unasked_is_rich_too(notebook: Executed) -> None:
    assert "In[13], line 7" in notebook.shown(13)["text/plain"]


def test_bad_options_are_told_in_one_sentence(notebook: Executed) -> None:
    for number, word in ((14, "deepest"), (16, "GS99")):
        assert [o.output_type for o in notebook.outputs(number)] == ["stream"]
        told = notebook.printed(number, "stderr")
        assert told.startswith("UsageError: %%gradsan: ")
        assert word in told
        assert told.count("\n") == 1


def test_an_error_in_the_cell_is_the_cells_own(notebook: Executed) -> None:
    error = notebook.outputs(15)[-1]
    assert error.ename == "ZeroDivisionError"
    assert "integrations/notebook.py" not in "".join(error.traceback)
