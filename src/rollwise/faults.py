"""What users' own code raises and gives, as part of an error message of one line."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

# What isn't a fault of the code that it comes out of.
PASSED_ON = (KeyboardInterrupt, MemoryError)

LONGEST = 300
_HOUSE = Path(__file__).parent
_SHEETS = _HOUSE / "games"


def one_line(text: str) -> str:
    """A text without line breaks, cut where it gets long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."


def shown(value: object) -> str:
    """A value as Python writes it, in a line; its type where it can't be written."""
    try:
        return one_line(repr(value))
    except PASSED_ON:
        raise
    except BaseException:
        return f"a {type(value).__name__} that can't be shown"


def fault_text(error: BaseException) -> str:
    """What was raised, and where: ``ValueError: no such face (own.py, line 12)``."""
    try:
        message = one_line(str(error))
    except PASSED_ON:
        raise
    except BaseException:
        message = ""
    name = type(error).__name__
    place = fault_place(error)
    return f"{name}: {message}{place}" if message else f"{name}{place}"


def fault_place(error: BaseException) -> str:
    """The last line of the users' code that an exception came through: `` (own.py, line 12)``.

    Of several files it is the one that rollwise called.
    """
    frames = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if is_users(frame.f_code.co_filename)
    ]
    if not frames:
        return ""
    own = frames[0][0]
    line = [line for file, line in frames if file == own][-1]
    return f" ({Path(own).name}, line {line})"


def is_users(file: str) -> bool:
    """Whether a file is not of this package (its rule sheets are), nor made up by Python.

    Nor is it Numba's, which only reads the rules, nor Python's own.
    """
    parents = Path(file).parents
    ours = _HOUSE in parents and (_SHEETS not in parents or file.endswith("__init__.py"))
    numba = getattr(sys.modules.get("numba"), "__file__", None)
    compiler = numba is not None and Path(numba).parent in parents
    python = Path(traceback.__file__).parent in parents and "site-packages" not in file
    return not (file.startswith("<") or ours or compiler or python)
