"""The lines of a source file as text, in the encoding that the file itself declares."""

from __future__ import annotations

import io
import tokenize


def encoding_of(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError:  # it declares one that nobody knows: then it never ran
        return "utf-8"


def decoded(line: bytes, encoding: str) -> str:
    return line.decode(encoding, "replace")
