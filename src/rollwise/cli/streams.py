"""Output to streams with small character sets, and to full or closed streams."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

from rollwise.errors import UsageError
from rollwise.machine.atomic_files import ERROR, OUTPUT, pointed

LONGEST = 800  # letters of a message


@dataclass
class Asked:
    """Values of the options of all commands.

    Attributes
    ----------
    json : bool
        Print one JSON document only.
    max_states : int or None
        The largest number of states; None for the default.
    """

    json: bool = False
    max_states: int | None = None


ASKED = Asked()

# Replacements for characters missing from a stream's encoding. Others become their numbers.
STAND_INS = {
    "→": ">",
    "±": "+/-",
    "−": "-",
    "–": "-",
    "—": "-",
    "×": "x",
    "·": "-",
    "…": "...",
    "≤": "<=",
    "≥": ">=",
    "’": "'",
    "“": '"',
    "”": '"',
}


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(STAND_INS.get(char) or _number(char) for char in text), error.end


def _number(char: str) -> str:
    """A character as JSON writes it, where it knows only ASCII."""
    return json.dumps(char)[1:-1]


# ASCII by another name: Typer takes a stream called ASCII for a mistake, and writes UTF-8.
PLAIN = "rollwise_ascii"


def _codec(name: str) -> codecs.CodecInfo | None:
    if name != PLAIN:
        return None
    known = codecs.lookup("ascii")
    return codecs.CodecInfo(*known, known.incrementalencoder, known.incrementaldecoder, name)


def prepare() -> None:
    """Have standard output and error print something for every character.

    A closed standard input is replaced by an empty one.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:  # closed: error messages have no reader
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise UsageError("standard output is closed; let it go to a file, or to /dev/null")
    codecs.register_error("rollwise", _stand_in)
    codecs.register(_codec)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            plain = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding=PLAIN if plain else None, errors="rollwise")


_for_data: TextIO | None = None
_data_descriptor: int | None = None


@contextlib.contextmanager
def kept_for_data(arguments: Iterable[str]) -> Iterator[None]:
    """Reserve standard output for `write` with --json or --csv.

    All other output goes to standard error, including prints of a game's rules and writes of
    compiled libraries to the descriptor.
    """
    global _for_data, _data_descriptor
    if not {"--json", "--csv"}.intersection(arguments):
        yield
        return
    _for_data = sys.stdout
    try:
        with contextlib.ExitStack() as stack:
            if _descriptor(sys.stdout) == OUTPUT and _descriptor(sys.stderr) == ERROR:
                sys.stdout.flush()
                _data_descriptor = stack.enter_context(pointed(OUTPUT, ERROR))
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
            yield
    finally:
        _for_data = _data_descriptor = None


def _descriptor(stream: TextIO) -> int | None:
    """The descriptor of a stream; None where it has none, or is closed."""
    try:
        number = stream.fileno()
        os.fstat(number)
    except (AttributeError, OSError, ValueError):
        return None
    return number


def write(text: str) -> None:
    """Print output for other programs."""
    stream = _for_data or sys.stdout
    if _data_descriptor is None:
        stream.write(text)
        return
    with pointed(OUTPUT, _data_descriptor):
        stream.write(text)
        stream.flush()


def write_json(text: str) -> None:
    """Print a JSON document, in ASCII where standard output knows no more."""
    stream = _for_data or sys.stdout
    if "utf" not in (stream.encoding or "utf-8").lower():
        text = re.sub(r"[^\x00-\x7f]", lambda found: _number(found[0]), text)
    write(text)


def say(message: str) -> None:
    """A line on standard error, if it can be had there. Names in it control no terminal."""
    line = " ".join(message.split())
    line = "".join(char if char.isprintable() else _number(char) for char in line)
    with contextlib.suppress(OSError):
        print("rollwise:", line, file=sys.stderr)


def one_line(message: str) -> str:
    """A message as one readable line, for any input."""
    line = " ".join(part for part in message.splitlines() if part.strip())
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} ... {line[-LONGEST // 2 :]}"


def close() -> None:
    """Suppress further writes to standard output after a failure, also at Python's exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


def system_error(error: OSError) -> str:
    """An error of the system in a line."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    if error.filename is not None:
        return f"{error.filename}: {reason}"
    if error.errno in (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT):
        return f"the output can't be written: {reason}"
    return reason
