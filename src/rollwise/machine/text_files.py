"""Reading text that users give: files that come to no end are refused."""

from __future__ import annotations

import errno
from pathlib import Path

MOST = 1_000_000_000  # characters


def read_text(path: Path, encoding: str = "utf-8-sig") -> str:
    """The whole text of a file, or of a pipe.

    Raises
    ------
    OSError
        It can't be read, or is longer than `MOST` characters: /dev/zero has no end.
    UnicodeDecodeError
    """
    parts, left = [], MOST
    with path.open(encoding=encoding) as file:
        while part := file.read(1 << 20):
            left -= len(part)
            if left < 0 or "\0" in part:
                fault = "it isn't text" if "\0" in part else f"it has more than {MOST:,} characters"
                raise OSError(errno.EFBIG, fault)
            parts.append(part)
    return "".join(parts)
