"""The server's pages in a browser: the start page, and games that are too large for a page."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from browser import NINTH_SQUARE, OWN_PIECE, Browser, heading

import rollwise
from rollwise.coach import Table, read_records, replay
from rollwise.documents.played import Figures
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.yahtzee import Yahtzee

pytestmark = pytest.mark.slow
BAD = "<img src=x onerror=alert(1)>"
SHEET = f"""
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
from rollwise import PASS, WIN, Game, boards, parameter

BAD = {BAD!r}


class Count(NamedTuple):
    mine: int
    theirs: int


@dataclass(frozen=True)
class Bad(Game):
    __doc__ = BAD
    name: ClassVar = BAD
    heading: ClassVar = BAD
    size: int = parameter(3, at_least=1, about=BAD)
    action_names: ClassVar = (BAD, "b" + BAD)

    def start(self):
        return Count(0, 0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        for face in (1, 2):
            if s.mine + face > self.size:
                yield 1, WIN, s
            else:
                yield 1, PASS, Count(s.theirs, s.mine + face)

    def describe(self, s):
        return f"{{BAD}} {{s.mine}} {{s.theirs}}"

    def cells(self, s):
        return [[boards.label(BAD), boards.tile(BAD, gone=s.mine > 1)]]

    def told(self, s, action, then, after):
        return BAD
"""
# Has every page ask its server, as if no game were small enough for a file.
OPEN = """
import sys
if "rollwise.serve.worker" in sys.orig_argv:
    import rollwise.page
    rollwise.page.MOST_BYTES = 0
"""
MOST_MOVES = 200


class Server:
    """A server in a folder of its own, which may be killed and started again."""

    def __init__(self, folder: Path, *games: str, is_open: bool = False) -> None:
        self.folder, self.games, self.port = folder, games, 0
        self.environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        if is_open:
            (folder / "sitecustomize.py").write_text(OPEN)
            path = [str(folder), str(Path(rollwise.__file__).parents[1])]
            self.environment["PYTHONPATH"] = os.pathsep.join(path)
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rollwise", "serve", *self.games, "--port", str(self.port),
             "--history", "games.sqlite"],
            cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.process.stdout.readline()
        self.url = self.process.stdout.readline().split()[0]
        self.port = int(self.url.rstrip("/").rpartition(":")[2])

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return answer.read()

    def solve(self, game: str, **parameters: int) -> str:
        """Have a game solved; the words that stand for it."""
        body = json.dumps({"game": game, "parameters": parameters}).encode()
        kind = {"Content-Type": "application/json"}
        end = time.monotonic() + 60
        while True:
            try:
                asked = urllib.request.Request(self.url + "api/solve", body, kind)
                with urllib.request.urlopen(asked, timeout=30) as answer:
                    if json.loads(answer.read())["state"] != "solving":
                        break
            except urllib.error.URLError:
                assert time.monotonic() < end  # it isn't there yet
            time.sleep(0.05)
        words = [("game", game), *(("parameter", f"{n}={x}") for n, x in parameters.items())]
        return urlencode(words)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("bad")
    (folder / "bad.py").write_text(SHEET)
    found = Server(folder, "pig", "royal-ur", "bad.py:Bad")
    yield found
    found.kill()


@pytest.fixture
def open_server(browser: Browser, tmp_path: Path) -> Iterator[Server]:
    found = Server(tmp_path, "yahtzee", "royal-ur", is_open=True)
    yield found
    browser.leave()
    found.kill()


def solve_on_the_page(browser: Browser, game: str) -> None:
    browser.js(
        f"game.value = {json.dumps(game)}; game.dispatchEvent(new Event('change'));"
        "for (const x of document.querySelectorAll('[name=target], [name=size]')) x.value = 5"
    )
    browser.click("#solve")
    browser.wait("!document.getElementById('solved').hidden")


@pytest.mark.parametrize("dark", [False, True])
def test_the_start_page_is_for_everybody(browser: Browser, server: Server, dark: bool) -> None:
    server.solve("pig", target=5)
    for width in (320, 1600):
        browser.screen(width, 800, dark=dark)
        browser.go(server.url)
        assert browser.js("[...game.options].map(one => one.text)") == [
            "Pig",
            "The Royal Game of Ur",
            BAD,
        ]
        solve_on_the_page(browser, "pig")
        browser.click("summary")
        browser.click("#ask button")
        browser.wait("document.querySelectorAll('#advice tr').length > 1")
        assert "the mover at the start" in browser.js("worth.textContent")
        assert browser.js("document.documentElement.scrollWidth") <= width
        assert browser.shut_out() == []
    assert browser.errors == []
    assert all(asked.startswith(server.url) for asked in browser.asked)


def test_a_link_to_a_position_of_an_unsolved_game(browser: Browser, server: Server) -> None:
    """After a restart the same address solves the game, and shows the same position."""
    browser.go(f"{server.url}page?game=pig&parameter=target=9#3,2,2")
    browser.wait("document.querySelector('.words')?.textContent.includes('3 in the bank')")
    assert "2 at risk" in browser.js("document.querySelector('.words').textContent")
    assert browser.errors == []


# ---- games whose positions the server tells of


def asked_next(browser: Browser) -> str:
    return str(browser.js("document.querySelector('.stage').textContent"))


def take(browser: Browser) -> None:
    """Take the first choice, and wait for what comes of it."""
    before = asked_next(browser)
    browser.click(".ask button")
    browser.wait(f"document.querySelector('.stage').textContent !== {json.dumps(before)}")


def position_of(browser: Browser) -> str:
    """The position in words, with its throw."""
    words, *thrown = browser.js(
        "[...document.querySelectorAll('.stage .words, .thrown')].map(one => one.textContent)"
    )
    return "; ".join([words, *thrown])


def said_by_the_coach(browser: Browser) -> list[list[str]]:
    browser.press("h")
    found: list[list[str]] = browser.js(
        "[...document.querySelectorAll('.advice tbody tr')]"
        ".map(row => [...row.children].map(cell => cell.textContent))"
    )
    return found


@pytest.mark.parametrize("game", [RoyalUr(pieces=1), Yahtzee(boxes=1)], ids=["ur", "yahtzee"])
def test_a_large_game_is_played_to_its_end(
    browser: Browser, open_server: Server, game: rollwise.Game
) -> None:
    solution = rollwise.solve(game)
    figures, table = Figures.of(solution), Table(solution, game)
    words = open_server.solve(game.name, **{name: 1 for name in ("pieces", "boxes")
                                            if name in game.parameters})  # fmt: skip
    browser.screen(390, 844)
    browser.go(f"{open_server.url}page?{words}")
    browser.wait("document.querySelector('h2').textContent")
    assert browser.js("[...document.querySelectorAll('[role=tab]')].map(one => one.id)") == [
        "tab-coach",
        "tab-moves",
        "tab-strategy",
        "tab-rules",
    ]
    texts = {table.narrator.position(s): s for s in range(solution.graph.n_states)}
    heard = 0
    for _ in range(MOST_MOVES):
        if heading(browser) == "The game is over":
            break
        rows = said_by_the_coach(browser)
        if rows:
            state = texts[position_of(browser)]
            choices = solution.choices_in(np.array([state]))
            assert [row[1] for row in rows] == [
                figures.level(value) for value in sorted(choices.values.tolist(), reverse=True)
            ]
            heard += 1
        take(browser)
    assert heading(browser) == "The game is over"
    assert heard or game.name == "royal-ur"
    assert browser.js("document.querySelector('.made').textContent").endswith(
        "The server stores every finished game."
    )
    assert browser.errors == []
    browser.wait("document.querySelector('.books').textContent.includes('One game so far')")
    end = time.monotonic() + 10
    while not (open_server.folder / "games.sqlite").stat().st_size or not (
        records := kept(open_server)
    ):
        assert time.monotonic() < end
        time.sleep(0.05)
    session = replay(records[0], table)
    assert session.is_over
    shown = browser.js("document.querySelector('.books tbody tr:last-child td').textContent")
    assert shown == figures.level(session.ledger().result)
    assert browser.shut_out() == []


def test_positions_of_a_large_game_are_edited_and_drilled(
    browser: Browser, open_server: Server
) -> None:
    """As on a page with the whole game; the advice is that of `advise`."""

    def is_advised_here(game: rollwise.Game) -> bool:
        solution = rollwise.solve(game)
        table, figures = Table(solution, game), Figures.of(solution)
        here = position_of(browser)
        states = range(solution.graph.n_states)
        state = next(s for s in states if table.narrator.position(s) == here)
        values = solution.choices_in(np.array([state])).values.tolist()
        rows = browser.js(
            "[...document.querySelectorAll('.advice td:nth-child(2)')].map(c => c.textContent)"
        )
        return bool(rows) and rows == [figures.level(x) for x in sorted(values, reverse=True)]

    words = open_server.solve("royal-ur", pieces=1)
    browser.screen(1280, 800)
    browser.go(f"{open_server.url}page?{words}#4,2,0,0;2")
    browser.wait("document.querySelectorAll('.edited .piece').length === 2")
    assert is_advised_here(RoyalUr(pieces=1))
    browser.drag(OWN_PIECE, NINTH_SQUARE)
    browser.wait("document.querySelector('.stage .words').textContent.startsWith('on 9; ')")
    assert is_advised_here(RoyalUr(pieces=1))
    before = browser.js("location.hash")
    browser.click(".edited [role=button]")
    browser.wait(f"location.hash !== {json.dumps(before)}")
    assert is_advised_here(RoyalUr(pieces=1))
    browser.go(f"{open_server.url}page?{open_server.solve('yahtzee', boxes=1)}")
    browser.click(".starts button:last-child")
    browser.wait("document.querySelector('.choices')")
    browser.click(".dice .die")
    browser.click(".choices .picked")
    assert is_advised_here(Yahtzee(boxes=1))
    assert browser.errors == []


def kept(server: Server) -> list[Any]:
    place = server.folder / "games.sqlite"
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if not connection.execute("SELECT count(*) FROM games").fetchone()[0]:
            return []
    return read_records(place)


def test_a_game_goes_on_after_its_server_was_killed(browser: Browser, open_server: Server) -> None:
    words = open_server.solve("royal-ur", pieces=1)
    browser.go(f"{open_server.url}page?{words}")
    browser.wait("document.querySelector('.ask button')")
    take(browser)
    open_server.kill()
    before = browser.js("document.querySelector('.words').textContent")
    browser.click(".ask button")
    browser.wait(
        "document.querySelector('.bottom .warning')?.textContent.includes('Start it again')"
    )
    assert browser.js("document.querySelector('.words').textContent") == before
    assert kept(open_server) == []
    open_server.start()
    end = time.monotonic() + 20
    while True:
        try:
            open_server.get("api/games")
            break
        except urllib.error.URLError:
            assert time.monotonic() < end
    browser.click(".bottom .warning + button")  # go on: the game is solved anew first
    browser.wait("!document.querySelector('.bottom .warning')")
    for _ in range(MOST_MOVES):
        if heading(browser) == "The game is over":
            break
        take(browser)
    assert heading(browser) == "The game is over"
    end = time.monotonic() + 10
    while not kept(open_server):
        assert time.monotonic() < end
        time.sleep(0.05)
