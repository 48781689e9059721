"""Legal programs that are hard to watch: the same output, weights and random state, no fault and no finding.

`make reliability` runs all of them, in three modes and in processes of their own; here one or two of each kind."""

from __future__ import annotations

import contextlib
import io
import linecache
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest
import torch

from gradsan.judge.engine import Engine
from gradsan.judge.report.findings import Report
from gradsan.observe.session import Session
from gradsan.record.recorder import Recorder

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "benchmarks"))
import final_state  # noqa: E402 - the same digest as in the benchmark

CHOSEN = [
    "sparse_adam_two_optimizers",
    "sparse_set_by_hand",
    "sparse_parameter",
    "nested_jagged",
    "nested_strided",
    "subclass_that_draws_random_numbers",
    "subclass_parameter_that_counts",
    "subclass_wrapper_that_counts_dispatch",
    "subclass_with_properties_of_its_own",
    "subclass_two_kinds_meet",
    "mode_function_that_counts",
    "mode_dispatch_that_counts",
    "mode_that_refuses_reads",
    "mode_fake_tensors",
    "fx_function_with_losses",
    "make_fx_of_a_backward",
    "jit_trace",
    "jit_script_of_autograd",
    "pickled_functions",
    "names_list_that_draws",
    "names_dict_that_counts",
    "names_lazy_proxy",
    "names_module_with_parameters_of_its_own",
    "names_data_that_counts",
    "raw_thread_trains",
    "reference_model_inside_a_library",
    "scaler_overflow_is_skipped",
    "scaler_by_hand",
    "gradients_swapped_through_data",
    "gradients_put_aside_and_back",
]


def run(name: str, mode: str = "") -> tuple[str, str, Report]:
    code = (HERE / "legal" / f"{name}.py").read_text(encoding="utf-8")
    file = f"<{name} {mode or 'bare'}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    final_state.seed()
    engine, module, out = Engine(), ModuleType("__main__"), io.StringIO()
    session = Session(Recorder([engine]), mode) if mode else contextlib.nullcontext()
    with contextlib.redirect_stdout(out), warnings.catch_warnings(), session:
        exec(compile(code, file, "exec"), vars(module))
        state = final_state.digest(vars(module))
    return out.getvalue(), state, engine.report()


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_legal_program_is_left_as_it_is(name: str) -> None:
    bare, seen = run(name), run(name, "deep")
    assert not seen[2].faults, seen[2].faults[0]["traceback"]
    assert not seen[2].findings, [(f.rule, f.message) for f in seen[2].findings]
    assert seen[:2] == bare[:2]
