"""The sweep takes minutes: `make processes` runs it, `make test` does not."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("GRADSAN_PROCESSES") else ["test_sweep.py"]
