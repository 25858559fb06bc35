"""A solved game as one page to be mailed: it opens from a file, plays, and coaches.

The page needs no network. Its scripts are the modules beside this file, put together as text; their
data are a `document`. Both are deflated and in base 85. `loader.js` unpacks the scripts.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from rollwise.answer.references import AnyPolicy
from rollwise.answer.solution import Solution
from rollwise.errors import UsageError, spelled
from rollwise.machine.atomic_files import HtmlPage
from rollwise.page.document import Api, OpenFacts, document, open_document
from rollwise.page.words import Progress
from rollwise.plot.pages import resource

MOST_BYTES = 1_000_000  # of a page
MOST_OUTCOMES = 8_000_000  # of a game packed to measure its page
VIEWS = ("play", "strategy")


class TooLargeForPage(UsageError):
    """A game doesn't fit into one file."""


def page(
    solution: Solution,
    progress: Progress | None = None,
    policies: Sequence[AnyPolicy] = (),
    shows: str = "play",
    api: Api | None = None,
) -> str:
    """The page as HTML.

    Parameters
    ----------
    solution : Solution
        With the game's rules, the source of its words and policies.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.
    policies : sequence of str, callable or Policy, optional
        Opponents besides the policies of the game: as `rollwise.evaluate` takes them.
    shows : str
        The part shown first: ``play``, ``strategy`` or ``rules``.
    api : mapping, optional
        Services of the page's server: whether it ``keeps`` games, and a hash of its ``rules``,
        which the page sends with each question.

    Raises
    ------
    TooLargeForPage
        The game is too large for a page.
    """
    if solution.space.n_outcomes > MOST_OUTCOMES or not solution.is_small:
        raise _too_large(solution, f"has {solution.space.n_outcomes:,} outcomes")
    solution = solution.whole()
    if shows not in VIEWS:
        raise UsageError(f"shows is {shows!r}; it must be {' or '.join(VIEWS)}")
    if isinstance(policies, str):
        raise UsageError(f"policies is {policies!r}; it must be a list, as [{policies!r}]")

    def require_fit(size: int) -> None:
        if size > MOST_BYTES:
            raise _too_large(solution, f"takes {size / 1e6:.1f} MB or more")

    data = document(
        solution, progress, policies, api, lambda part: require_fit(len(deflated(part)))
    )
    text = _html(solution, data, shows, api)
    require_fit(len(text.encode()))
    return text


def html_page(
    solution: Solution,
    path: str | Path | None = None,
    *,
    policies: Sequence[AnyPolicy] = (),
    shows: str = "play",
) -> HtmlPage:
    """The page for a notebook, and as a file too if a path is given: see `Solution.page`."""
    text = page(solution, policies=policies, shows=shows)
    return HtmlPage(solution.title, text).also_at(path)


def open_page(part: Solution, facts: OpenFacts, api: Api) -> str:
    """The page of a game too large for one page: its server answers questions about positions.

    Parameters
    ----------
    part : Solution
        The answer at the start.
    facts : OpenFacts
        Facts about the whole game.
    """
    return _html(part, open_document(part, facts, api), "play", api)


def _html(solution: Solution, known: bytes, shows: str, api: Api | None) -> str:
    heading, title = solution.heading, solution.graph.title
    return assembled(heading, title, known, shows=shows, is_served=api is not None)


def assembled(
    heading: str,
    title: str,
    known: bytes,
    main: str = "main",
    *,
    shows: str = "play",
    is_served: bool = False,
) -> str:
    """The page of a module and its data as HTML.

    Parameters
    ----------
    title : str
        The game with its parameters.
    known : bytes
        The data, as the module reads them.
    main : str
        The module that shows the page.
    is_served : bool
        Whether the page may ask its server.
    """
    code = f"globalThis.css = {json.dumps(style())};\n{script(main)}"
    parts = {
        "title": html.escape(heading),
        "name": html.escape(heading),
        "subtitle": html.escape(_in_short(title)),
        "shows": html.escape(shows),
        "connect": "connect-src 'self'; " if is_served else "",
        "loader": script("loader"),
        "code": deflated(code.encode()),
        "game": deflated(known),
        "script_hash": _hash(code),
    }
    parts["loader_hash"] = _hash(parts["loader"])
    return re.sub(r"\{\{(\w+)\}\}", lambda name: parts[name[1]], resource("page", "page.html"))


def _in_short(title: str) -> str:
    """The parameters of a title such as ``pig target=100``, for the head of the page."""
    parts = [part for part in title.split(" ")[1:] if not part.startswith("rate=")]
    return " · ".join(re.sub("[=_]", " ", part) for part in parts)


def write_page(
    solution: Solution,
    path: Path,
    progress: Progress | None = None,
    policies: Sequence[AnyPolicy] = (),
) -> None:
    """Write the page to a file, all at once or not at all.

    Raises
    ------
    UsageError, OutputError
        The game is too large for a page, or the file can't be written.
    """
    from rollwise.machine.atomic_files import check_place, write_text

    check_place(path)
    write_text(path, page(solution, progress, policies))


@cache
def _modules(main: str) -> tuple[str, ...]:
    """A module of the page after all that it imports."""
    imported = re.findall(
        r'^import .* from "\./(\w+)\.js";$', resource("page", f"{main}.js"), re.MULTILINE
    )
    return (*dict.fromkeys(name for other in imported for name in _modules(other)), main)


def script(main: str = "main") -> str:
    """A module of the page and all that it imports, without imports, exports, comments, indents."""
    parts = []
    for name in _modules(main):
        source = resource("page", f"{name}.js")
        source = re.sub(r"^import [^;]*;\n", "", source, flags=re.MULTILINE)
        source = re.sub(r"^\s*//.*\n|^\s+", "", source, flags=re.MULTILINE)
        parts.append(re.sub(r"^export ", "", source, flags=re.MULTILINE))
    return "\n".join(parts)


def style() -> str:
    """The style sheet without comments and indents; the script applies it."""
    return re.sub(r"/\*.*?\*/|\s*\n\s*", "", resource("page", "page.css"), flags=re.DOTALL)


def deflated(content: bytes) -> str:
    """Bytes as characters of an HTML file, for `inflate.js`."""
    return base64.b85encode(zlib.compress(content, 9)).decode().replace("<", ",")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _too_large(solution: Solution, why: str) -> TooLargeForPage:
    game = solution.game
    is_served = game is None or game.made_from is game
    name = solution.title.split()[0]
    return too_large(solution.title, name if is_served else None, why)


def too_large(title: str, served: str | None, why: str) -> TooLargeForPage:
    """The error of a game too large for one file, with alternatives.

    Parameters
    ----------
    served : str, optional
        Its name in `rollwise serve`; None without one.
    why : str
        Completes a sentence that begins with "it".
    """
    play = spelled(python="rollwise.coach.Session", command_line=f"rollwise play {title}")
    serve = f", and so does `rollwise serve {served}` in a browser" if served else ""
    return TooLargeForPage(
        f"{title} is too large for a page, which has at most {MOST_BYTES / 1e6:g} MB: it {why}; "
        f"{play} plays it, with the same coach{serve}"
    )


__all__ = [
    "OpenFacts",
    "TooLargeForPage",
    "assembled",
    "html_page",
    "open_page",
    "page",
    "script",
    "too_large",
    "write_page",
]
