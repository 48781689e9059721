"""The documentation site: Sphinx, because it has lasted, with pages that stay plain Markdown (MyST) and open from disk.

The pages know nothing of Sphinx, so that they read well in the repository, too: the order of pages stands here, and is
put below the first page when it is read.
"""

from __future__ import annotations

from typing import Any

project = "gradsan"
author = project
copyright = "the gradsan authors, MIT licence"
html_title = "gradsan"
html_theme = "furo"
html_copy_source = html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
extensions = ["myst_parser", "sphinx_copybutton"]
copybutton_prompt_text = "$ "
exclude_patterns = ["overhead.md"]  # a table by itself, written by `make bench`
myst_heading_anchors = 4
myst_links_external_new_tab = False
# Shown as they are: output and sessions have no grammar that a highlighter could know.
highlight_language = "text"

ORDER: dict[str, list[str]] = {
    "Begin": ["tutorial", "learn", "faq", "alternatives"],
    "How to": [
        "how-to/findings",
        "how-to/fix",
        "how-to/lock",
        "how-to/outputs",
        "how-to/configuration",
        "how-to/cleanrl",
        "how-to/sb3",
        "how-to/lightning",
        "how-to/llm-rl",
        "how-to/notebooks",
        "how-to/distributed",
        "how-to/ci",
    ],
    "Reference": ["rules/index", "lint", "api", "reference", "rl", "rl-bench", "rl-seeds", "rl-curves"],
    "Evidence": [
        "found-in-the-wild",
        "benchmark",
        "unseen",
        "meaning",
        "third-party",
        "performance",
        "reliability",
        "tested-with",
    ],
    "Inside": ["design"],
}
RULES = "```{toctree}\n:hidden:\n:glob:\n\nGS*\n```\n"


def _order(app: Any, name: str, source: list[str]) -> None:
    if name == "index":
        for caption, pages in ORDER.items():
            entries = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"
    elif name == "rules/index":
        source[0] += f"\n{RULES}"


def setup(app: Any) -> None:
    app.connect("source-read", _order)
