"""A real Jupyter kernel: cells in, outputs out."""

from __future__ import annotations

from typing import Any

import nbformat
from nbclient import NotebookClient


class Executed:
    """A notebook after its last cell; cells are numbered from 1, as in `In[1]`."""

    def __init__(self, *cells: str) -> None:
        self.notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        NotebookClient(self.notebook, kernel_name="python3", timeout=300, allow_errors=True).execute()

    def outputs(self, number: int) -> list[Any]:
        return list(self.notebook.cells[number - 1].outputs)

    def shown(self, number: int) -> dict[str, str]:
        """The one rich output of a cell that has no other."""
        (output,) = self.outputs(number)
        assert output.output_type in ("display_data", "execute_result"), output
        return dict(output.data)

    def printed(self, number: int, stream: str = "stdout") -> str:
        return "".join(o.text for o in self.outputs(number) if o.output_type == "stream" and o.name == stream)
