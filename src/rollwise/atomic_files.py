"""Files that appear in their place whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from rollwise.errors import SolutionFileError


def write_atomically(path: Path, write: Any) -> None:
    """Have ``write(temporary path)`` make a file, and put it in the place of `path`.

    Raises
    ------
    SolutionFileError
        The directory can't be written to.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        os.close(handle)
    except OSError as error:
        raise SolutionFileError(f"{path} can't be written: {error.strerror}") from error
    temporary = Path(name)
    try:
        write(temporary)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        os.replace(temporary, path)
    except OSError as error:
        raise SolutionFileError(f"{path} can't be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)
