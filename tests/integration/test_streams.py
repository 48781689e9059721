"""Who writes where: a report for programs, a progress bar that has not ended its line, a summary in short."""

from __future__ import annotations

import json
import re

from sandbox import CLEAN, STALE, Sandbox

WARNS = STALE + "import sys\nprint('done')\nprint('a warning of its own', file=sys.stderr)\n"
BAR = """
import torch
from tqdm import tqdm
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in (bar := tqdm(range(4), mininterval=0)):
    (net(torch.ones(8, 3)) - 1.0).pow(2).mean().backward()
    opt.step()
"""
UNFINISHED = STALE + "import sys\nsys.stderr.write('half a line')\n"
BLOCK = "import gradsan\nwith gradsan.watch() as report:\n" + "".join(
    f"    {line}\n" for line in STALE.strip().splitlines()
)
LIGHTNING = """
import logging, warnings
warnings.simplefilter("ignore")
import lightning.pytorch as pl
import torch
from gradsan.integrations.lightning import GradsanCallback
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(3, 1)
        self.automatic_optimization = False
    def configure_optimizers(self):
        return torch.optim.SGD(self.net.parameters(), lr=0.1)
    def training_step(self, batch, index):
        self.manual_backward(self.net(batch).pow(2).mean())
        self.optimizers().step()

data = torch.utils.data.DataLoader(torch.ones(32, 3), batch_size=4)
pl.Trainer(max_epochs=1, accelerator="cpu", callbacks=[GradsanCallback()], logger=False,
           enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False).fit(Module(), data)
"""


def test_a_report_for_programs_can_go_to_standard_output_at_the_end(sandbox: Sandbox) -> None:
    name = sandbox.write("train.py", WARNS)
    seen = sandbox.gradsan("run", "--format", "json", "--output", "-", "--quiet", name)
    first, report = seen.stdout.split("\n", 1)
    assert first == "done"
    assert [f["rule"] for f in json.loads(report)["findings"]] == ["GS401"]
    assert seen.stderr == "a warning of its own\n"


def test_on_standard_error_a_report_for_programs_is_one_block_on_lines_of_its_own(sandbox: Sandbox) -> None:
    name = sandbox.write("train.py", UNFINISHED)
    seen = sandbox.gradsan("run", "--format", "json", name)
    said, report = seen.stderr.split("\n", 1)
    assert said == "half a line"
    assert json.loads(report)["schema"] == 1


def test_findings_begin_a_line_of_their_own_below_a_progress_bar(sandbox: Sandbox) -> None:
    name = sandbox.write("train.py", BAR)
    seen = sandbox.gradsan("run", name)
    assert re.search(r"^gradsan: error GS401", seen.stderr, re.MULTILINE)
    assert not re.search(r"[^\n]gradsan: error", seen.stderr)
    assert "4/4" in seen.stderr


def test_a_block_says_in_short_what_it_found(sandbox: Sandbox) -> None:
    sandbox.write("block.py", BLOCK)
    told = sandbox.python("block.py").stderr
    assert told == "gradsan: 1 error in 4 iterations (4 deep); print(report) shows more\n"
    sandbox.write("clean.py", BLOCK.replace("    loss.backward()", "    opt.zero_grad(); loss.backward()"))
    assert sandbox.python("clean.py").stderr == ""
    once = sandbox.gradsan("run", "block.py").stderr
    assert once.count("gradsan: 1 error") == 1


def test_a_callback_under_the_command_reports_once(sandbox: Sandbox) -> None:
    name = sandbox.write("train.py", LIGHTNING)
    seen = sandbox.gradsan("run", name)
    assert seen.stderr.count("error GS401 stale-gradient  ") == 1, seen.stderr
    alone = sandbox.python(name)
    assert alone.stderr.count("error GS401 stale-gradient  ") == 1, alone.stderr


def test_the_title_of_a_page_tells_nothing_of_the_machine(sandbox: Sandbox) -> None:
    sandbox.write("deep/train.py", CLEAN)
    sandbox.gradsan("run", "--html", "r.html", str(sandbox.path / "deep" / "train.py"))
    assert "<title>gradsan: deep/train.py</title>" in sandbox.read("r.html")
    assert "<h1>deep/train.py</h1>" in sandbox.read("r.html")
