"""Writing files and standard output, and reading users' text.

A regular file appears in its place whole, or not at all: a new file is written beside its place
and renamed. It takes over the mode and the owner of the replaced file, and a symbolic link
goes on pointing to it. Anything else than a regular file (a device, a pipe), or a file that can't
be replaced, is written through. Endless text is refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import html
import json
import os
import re
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from rollwise.errors import OutputError, UsageError, another_kind

SUFFIX = ".rollwise.part"  # of unfinished files
PROGRAMS = (".py", ".ipynb")
# A process of unknown state counts as dead after this many seconds without writing.
PATIENCE = 86400.0
# Standard streams by name. Behind them may be a regular file, which a shell has opened.
STREAMS = ("/dev/fd/", "/dev/std", "/proc/")
ROWS_AT_ONCE = 1 << 22  # in a step of a checksum
FAILED_RUNS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def path_of(path: str | os.PathLike[str]) -> Path:
    """The path given by a user of Python.

    Raises
    ------
    UsageError
        It isn't text or a path.
    """
    try:
        found = Path(path)
    except TypeError:
        raise another_kind("a path is wanted, such as 'pig.parquet'", path) from None
    if "\0" in str(found):
        raise UsageError(f"{str(found)!r} is no path: it holds a NUL")
    return found


def check_place(path: Path | None) -> None:
    """Check, before any work, that a file can be written at this path, if one is given.

    Raises
    ------
    OutputError
        The folder is missing or can't be written to, a folder has this name, or the file is a
        program: rules are not overwritten.
    """
    if path is None:
        return
    if path.suffix in PROGRAMS and path.is_file():
        raise OutputError(f"{path} is a program, and isn't overwritten; give another name")
    with _told(path):
        if not _is_regular(path):
            return
        target = Path(os.path.realpath(path))
        if not target.parent.is_dir():
            raise OutputError(f"{path} can't be written: there is no folder {path.parent}")
        if not os.access(target if target.exists() else target.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Have ``write(temporary path)`` make a file, and put it in the place of `path`.

    Raises
    ------
    OutputError
        The file can't be written.
    """
    check_place(path)
    with _told(path):
        target = Path(os.path.realpath(path))
        if _is_regular(path) and os.access(target.parent, os.W_OK):
            _replace(target, write)
        else:
            _write_through(path, write)


def write_text(path: Path, text: str) -> None:
    """Put text into a file: in UTF-8, lines end with line feeds, on every system."""
    write_atomically(path, lambda place: place.write_text(text, encoding="utf-8", newline="\n"))


def write_arrays(
    path: Path,
    arrays: Mapping[str, Any],
    *,
    compressed: bool = False,
    lasting: bool = False,
    **facts: Any,
) -> None:
    """Write arrays, and facts as JSON under their names, to an .npz file, whole or not at all.

    Parameters
    ----------
    lasting : bool
        Whether the file is on the disk on return, also if the machine fails.

    Raises
    ------
    OutputError
        The file can't be written.
    """
    import numpy as np

    texts = {name: np.frombuffer(json.dumps(x).encode(), np.uint8) for name, x in facts.items()}
    save: Any = np.savez_compressed if compressed else np.savez

    def write(place: Path) -> None:
        with place.open("wb") as file:
            save(file, **texts, **arrays)
            if lasting:
                file.flush()
                os.fsync(file.fileno())

    write_atomically(path, write)


def read_arrays(path: Path, *names: str) -> tuple[dict[str, Any], list[Any]]:
    """The arrays of such a file, and the facts of these names; damaged files raise any error."""
    import numpy as np

    with np.load(path, allow_pickle=False) as archive:  # checks their checksums
        arrays = dict(archive)
    return arrays, [json.loads(arrays.pop(name).tobytes()) for name in names]


def checksum_of(*arrays: Any) -> str:
    """A checksum of the bytes of arrays of NumPy, a part of them at a time."""
    import numpy as np

    digest = hashlib.blake2b(digest_size=16)
    for array in map(np.atleast_1d, arrays):
        for begin in range(0, len(array), ROWS_AT_ONCE):
            part = np.ascontiguousarray(array[begin : begin + ROWS_AT_ONCE])
            digest.update(part.view(np.uint8).reshape(-1).data)
    return digest.hexdigest()


def write_error(path: Path | str, error: BaseException) -> OutputError:
    """An error of the system, or of a library, during writing, in one line."""
    number = getattr(error, "errno", None)
    text = " ".join(str(error).split()) or type(error).__name__
    if number is None and (told := re.search(r"\(os error (\d+)\)", text)):  # as Polars says it
        number = int(told[1])
    if number:
        text = os.strerror(number)
    if isinstance(error, PermissionError) and os.name == "nt":
        text += "; is it open in another program?"
    failure = OutputError(f"{path} can't be written: {text}")
    if number in FAILED_RUNS:
        failure.exit_code = 1
    return failure


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise write_error(path, error) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] == "polars":
            raise write_error(path, error) from error
        raise


def _is_regular(path: Path) -> bool:
    """Whether it is a regular file, or will be one."""
    if str(path).startswith(STREAMS):
        return False
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return True
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return stat.S_ISREG(mode)


def _write_through(path: Path, write: Callable[[Path], object]) -> None:
    with tempfile.TemporaryDirectory(prefix="rollwise-") as folder:
        whole = Path(folder) / "whole"
        write(whole)
        with whole.open("rb") as source, path.open("wb") as target:
            shutil.copyfileobj(source, target)


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    remove_abandoned(path.parent)
    before = path.stat() if path.exists() else None
    part, handle = _new_part(path, 0o666 if before is None else stat.S_IMODE(before.st_mode))
    try:
        os.close(handle)
        if before is not None:
            _take_over(part, before)
        write(part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _new_part(path: Path, mode: int) -> tuple[Path, int]:
    """A new file with its own name, with `mode` under the mask of the process."""
    # a random name, and O_EXCL: two writers never share an unfinished file
    while True:
        writer = f"{_host()}-{os.getpid()}-{os.urandom(4).hex()}"
        part = path.with_name(f".{path.name[:100]}.{writer}{SUFFIX}")
        with contextlib.suppress(FileExistsError):
            return part, os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode | stat.S_IWUSR)


def _take_over(part: Path, before: os.stat_result) -> None:
    """Give a file the owner and the mode of the file to replace, as far as permitted."""
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(part, before.st_uid, before.st_gid)
    part.chmod(stat.S_IMODE(before.st_mode))


def remove_abandoned(folder: Path) -> None:
    """Remove the unfinished files of killed processes in a folder."""
    for part in folder.glob(f".*{SUFFIX}"):
        with contextlib.suppress(OSError, ValueError):
            if not _may_be_written_to(part):
                part.unlink()


def _may_be_written_to(part: Path) -> bool:
    host, pid, _ = part.name.removesuffix(SUFFIX).rpartition(".")[2].split("-")
    if host == _host() and os.name == "posix":
        try:
            os.kill(int(pid), 0)  # which only asks
        except ProcessLookupError:
            return False
        except PermissionError:
            pass  # the file belongs to another user
    return time.time() - part.stat().st_mtime < PATIENCE


def _host() -> str:
    """A word for this machine, since folders may be shared."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return hashlib.blake2b(name.encode(), digest_size=4).hexdigest()


KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def require_file(path: Path, wanted: str, fault: type[UsageError]) -> None:
    """Refuse a path that leads to no regular file, before anything waits for a pipe.

    Parameters
    ----------
    wanted : str
        The content of the file, as in "a saved solution".
    fault : type of UsageError

    Raises
    ------
    UsageError
        Of the type `fault`: there is no file, or it is a folder, a pipe or a device.
    """
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise fault(f"there is no file {path}") from None
    except OSError as error:
        raise fault(f"{path} can't be read: {error.strerror}") from error
    if kind != stat.S_IFREG:
        raise fault(f"{path} is {KINDS.get(kind, 'no regular file')}, and not {wanted}")


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
        # limited as it is read: a device may have no end
        while part := file.read(1 << 20):
            left -= len(part)
            if left < 0 or "\0" in part:
                fault = "it isn't text" if "\0" in part else f"it has more than {MOST:,} characters"
                raise OSError(errno.EFBIG, fault)
            parts.append(part)
    return "".join(parts)


HEIGHT = 800  # in a notebook, in pixels; the page scrolls


@dataclass(frozen=True)
class HtmlPage:
    """One page.

    Attributes
    ----------
    title : str
    html : str
        The whole page, without links to the network.
    what : str
        The word for it in messages.
    """

    title: str
    html: str = field(repr=False)
    what: str = "page"

    def also_at(self, path: str | Path | None) -> Self:
        """The page, saved too if a path is given."""
        if path is not None:
            self.save(path)
        return self

    def save(self, path: str | Path) -> None:
        """Write it to a file, all at once or not at all.

        Raises
        ------
        UsageError, OutputError
            The name doesn't end in .html, or the file can't be written.
        """
        target = path_of(path)
        if target.suffix not in (".html", ".htm"):
            raise UsageError(f"{target}: the name of a {self.what} must end in .html")
        check_place(target)
        write_text(target, self.html)

    def _repr_html_(self) -> str:
        """The page in a frame, to separate its style from the notebook's."""
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="{html.escape(self.title)}" '
            f'style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
        )


OUTPUT, ERROR = 1, 2
_muting = threading.Lock()


@contextlib.contextmanager
def pointed(descriptor: int, target: int) -> Iterator[int]:
    """Let a descriptor lead to the target of another one for the time of a ``with`` block.

    Child processes inherit it so. A block may stand within another.

    Yields
    ------
    int
        A descriptor of the earlier target, open until the block ends.

    Raises
    ------
    OSError
        One of the two is closed.
    """
    before = os.dup(descriptor)
    try:
        _flush()
        os.dup2(target, descriptor)
        try:
            yield before
        finally:
            _flush()
            os.dup2(before, descriptor)
    finally:
        os.close(before)


@contextlib.contextmanager
def muted(descriptor: int = OUTPUT) -> Iterator[None]:
    """Drop all output to a standard stream in a ``with`` block. Keep the block short."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # the stream may be closed
            stack.enter_context(_muting)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            stack.callback(os.close, nowhere)
            stack.enter_context(pointed(descriptor, nowhere))
        yield


def _flush() -> None:
    """Flush the streams of C, which buffer text for files and pipes."""
    with contextlib.suppress(OSError, TypeError, AttributeError):  # on Windows
        ctypes.CDLL(None).fflush(None)
