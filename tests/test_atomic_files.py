"""Files are written whole or not at all, and what is in their place is respected."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runner import output, refusal, run

from rollwise.errors import OutputError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="devices, pipes and modes")
SOLVE = ("solve", "piglet", "target=3", "--save")
TABLE = ("table", "piglet", "target=3", "--csv", "--out")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_device_is_written_through(tmp_path):
    if not hasattr(os, "mknod") or os.geteuid() != 0:
        device = Path("/dev/null")
    else:
        device = tmp_path / "null"
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    for command in (SOLVE, TABLE):
        output(*command, str(device))
        assert stat.S_ISCHR(device.stat().st_mode)


def test_a_pipe_is_written_through(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    output(*TABLE, str(pipe))
    reader.join(10)
    assert read[0].decode() == output(*TABLE[:-1])
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_goes_on_pointing(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "file.csv", tmp_path / "link.csv"
    link.symlink_to(target)
    for _ in range(2):  # to nothing at first
        output(*TABLE, str(link))
        assert link.is_symlink()
        assert target.read_text() == output(*TABLE[:-1])
    assert sorted(path.name for path in target.parent.iterdir()) == ["file.csv"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_mode_is_kept(tmp_path, mode):
    path = tmp_path / "file.csv"
    path.touch()
    path.chmod(mode)
    output(*TABLE, str(path))
    assert mode_of(path) == mode
    assert path.stat().st_size > 0


def test_what_is_being_written_is_as_private_as_what_it_replaces(tmp_path):
    from rollwise.machine.atomic_files import write_atomically

    path = tmp_path / "secret"
    path.touch(0o600)
    seen = []

    def write(place: Path) -> None:
        place.write_text("secret")
        seen.append(mode_of(place))

    write_atomically(path, write)
    assert seen == [0o600]


def test_a_failure_leaves_what_was_there(tmp_path):
    from rollwise.machine.atomic_files import write_atomically

    path = tmp_path / "file"
    path.write_text("before")

    def write(place: Path) -> None:
        place.write_text("half")
        raise OSError(errno.ENOSPC, "full")

    with pytest.raises(OutputError, match="No space left on device") as caught:
        write_atomically(path, write)
    assert caught.value.exit_code == 1
    assert path.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@contextlib.contextmanager
def no_room(size: int) -> Iterator[None]:
    """A limit on the size of files is a disk that is full, for a process."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    "arguments",
    [
        (*SOLVE, "kept.parquet"),
        (*TABLE, "kept.csv"),
        ("table", "piglet", "target=3", "--out", "kept.parquet"),
        ("export", "piglet", "target=3", "--to", "json", "--out", "kept.json"),
        ("export", "piglet", "target=3", "--to", "npz", "--out", "kept.npz"),
        ("learn", "piglet", "target=3", "--games", "10", "--seed", "1", "--save", "kept.npz"),
    ],
    ids=lambda arguments: " ".join(arguments[::3]),
)
def test_a_disk_that_fills_up_is_a_line(tmp_path, arguments):
    run(*arguments[:-2])  # what it needs is compiled
    with no_room(100):
        fault = refusal(*arguments, cwd=tmp_path, code=1)
    assert fault.startswith("rollwise: kept.")
    assert fault.endswith("can't be written: File too large")
    assert list(tmp_path.iterdir()) == []
