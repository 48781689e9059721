"""The Python API: what `import gradsan` offers, one file per function."""
