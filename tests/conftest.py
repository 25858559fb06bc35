"""What all tests share: Hypothesis without deadlines, and the two ways to run rules."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import settings

from rollwise.answer import kept
from rollwise.hidden import files
from rollwise.machine.memory_limits import NEW_OBJECTS
from rollwise.machine.switches import jit_disabled

# Every answer is found anew, and compiled rules aren't those of the user's own cache.
os.environ["ROLLWISE_NO_CACHE"] = "1"
os.environ.pop("COLUMNS", None)  # pytest-xdist sets it, and tables would be narrow
os.environ.setdefault(
    "ROLLWISE_CACHE_DIR", str(Path(__file__).parent.parent / ".pytest_cache" / "rollwise")
)

# How many examples of a property are tried: ``--hypothesis-profile`` chooses (see tests/README.md).
# There is no deadline, since the first example of a test waits for Numba.
USUAL = 50
for profile, many in (("quick", 10), ("usual", USUAL), ("long", 1_000)):
    settings.register_profile(profile, deadline=None, max_examples=many)
settings.load_profile("usual")


def examples(many: int) -> int:
    """The number of examples in this profile, for a test that tries so many in the usual one."""
    return many * settings.default.max_examples // USUAL


def pytest_configure(config: pytest.Config) -> None:
    if jit_disabled():  # kernels hash with numbers that wrap, of which NumPy's scalars warn
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered:RuntimeWarning")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--large", action="store_true", help="run the tests that are marked large")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--large"):
        large = [item for item in items if item.get_closest_marker("large")]
        config.hook.pytest_deselected(items=large)
        items[:] = [item for item in items if item not in large]
    # What is there now stays. Searching it again for garbage would make that search rare, and
    # large arrays wait for it.
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    reason = "NUMBA_DISABLE_JIT leaves nothing to compile"
    for item in items:
        if item.get_closest_marker("needs_jit"):
            item.add_marker(pytest.mark.skipif(jit_disabled(), reason=reason))


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Forget what a file of tests kept for itself, when the next test is of another file."""
    module = getattr(item, "module", None)
    if module is None or getattr(nextitem, "module", None) is module:
        return
    for known in vars(module).values():
        if hasattr(known, "cache_clear") and known.__module__ == module.__name__:
            known.cache_clear()
    gc.collect()


@pytest.fixture(params=["interpreted", pytest.param("compiled", marks=pytest.mark.needs_jit)])
def mode(request: pytest.FixtureRequest) -> str:
    """Who runs the rules: both builders are to give the same."""
    return request.param


def remembering(function: Callable[..., Any], most: int = 8) -> Callable[..., Any]:
    """The function, which remembers its last answers, whoever listens to its progress."""
    known: dict[Any, Any] = {}

    def ask(*given: Any, progress: Any = None, **named: Any) -> Any:
        key = (given, repr(named))
        if key not in known:
            listens = {} if progress is None else {"progress": progress}
            found = function(*given, **named, **listens)
            if len(known) == most:
                del known[next(iter(known))]
            known[key] = found
        return known[key]

    return ask


@pytest.fixture(scope="module")
def solved_once() -> Iterator[None]:
    """Commands share graphs and answers, as they do by the cache of a user."""
    with ExitStack() as patches:
        for room, name in (
            *((kept, name) for name in ("build", "solve_whole", "_answer")),
            (files, "kept_or_solved"),  # of hidden games
        ):
            patches.enter_context(mock.patch.object(room, name, remembering(getattr(room, name))))
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from browser import open_browser

    found = open_browser()
    yield found
    found.close()
