"""The folder for what is kept between runs is the user's alone, or isn't used."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numba
import pytest
from numba.core.caching import NullCache

from rollwise.kernels.compiling import compiled_kernel
from rollwise.machine import user_cache
from rollwise.machine.user_cache import place, private_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="users and modes")


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    monkeypatch.setattr(user_cache, "_TOLD", set())


def test_where_it_is(monkeypatch, tmp_path):
    monkeypatch.delenv("ROLLWISE_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/where")
    assert place() == Path("/some/where/rollwise")
    monkeypatch.setenv("ROLLWISE_CACHE_DIR", str(tmp_path))
    assert place() == tmp_path
    monkeypatch.delenv("ROLLWISE_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME")

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert place() is None
    assert private_folder(place()) is None


def test_it_is_made_for_the_user_alone(tmp_path):
    folder = tmp_path / "new" / "cache"
    before = os.umask(0)
    try:
        assert private_folder(folder) == folder
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o711])
def test_what_others_can_read_is_closed(tmp_path, mode):
    (tmp_path / "kept").touch()
    tmp_path.chmod(mode)
    assert private_folder(tmp_path) == tmp_path
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_what_others_may_have_written_to_is_not_used(tmp_path, mode):
    tmp_path.chmod(mode)
    assert private_folder(tmp_path) == tmp_path  # nothing is there yet
    tmp_path.chmod(mode)
    (tmp_path / "planted").touch()
    with pytest.warns(UserWarning, match=f"others may have written to {tmp_path}"):
        assert private_folder(tmp_path) is None


def double(x):
    return 2 * x


@pytest.mark.needs_jit
@pytest.mark.filterwarnings("ignore:there is no folder")
def test_compiled_code_that_others_may_have_planted_is_not_read(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    compiled = compiled_kernel(double)
    assert compiled(4) == 8
    assert compiled._cache.cache_path.startswith(str(tmp_path))
    (folder,) = tmp_path.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(list(folder.iterdir())) == 2
    folder.chmod(0o777)
    with pytest.warns(UserWarning, match="others may have written to"):
        assert isinstance(compiled_kernel(double)._cache, NullCache)
