from __future__ import annotations

from collections.abc import Iterator

import pytest
import rl_toys
import torch

from gradsan.rl.denormals import flushing

rl_toys.register()


@pytest.fixture(autouse=True)
def _one_thread_and_untouched_globals() -> Iterator[None]:
    """Training owns its random generators and leaves PyTorch's global switches as it found them."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    random_state = torch.get_rng_state()
    yield
    assert torch.equal(torch.get_rng_state(), random_state), "the global random state was touched"
    assert torch.is_grad_enabled()
    assert not flushing()
    torch.set_num_threads(threads)
