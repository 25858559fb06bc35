"""Screens of the mailed page and of the server's, for README and docs: phones and desks.

A browser takes them. Where none is installed they stay as they are.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import rollwise
from rollwise import Game
from rollwise.documents.hidden import answer_blocks
from rollwise.games import find
from rollwise.games.bear_off import TwoSidedBearOff
from rollwise.games.cant_stop import CantStop
from rollwise.games.liars_dice import LiarsDice
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.super_six import SuperSix
from rollwise.hidden import solve as solve_hidden
from rollwise.page.hidden import page_of
from rollwise.plot.pages import find_browser

ROOT = Path(__file__).resolve().parents[2]
PHONE, DESK = (390, 844), (1280, 800)
SEED = 5


class Screen(NamedTuple):
    """One picture: the game, how many first choices are taken, and what is clicked then."""

    name: str
    game: Game
    size: tuple[int, int]
    dark: bool
    moves: int | None  # None for the first screen
    then: str = ""
    seed: int = SEED


SCREENS = (
    Screen(
        "readme",
        find(str(ROOT / "examples" / "thieves.py"))(),
        (1000, 620),
        False,
        8,
        ".tools button",
        4,
    ),
    Screen("page-phone", Pig(target=20), PHONE, False, 4),
    Screen("page-phone-dark", RoyalUr(pieces=2), PHONE, True, 12),
    Screen("page-phone-box", ShutTheBox(), PHONE, False, 5, ".tools button"),
    Screen("page-phone-bear-off", TwoSidedBearOff(checkers=2), PHONE, True, 3),
    Screen("page-first", SuperSix(), DESK, False, None),
    Screen("page-desktop-columns", CantStop(sides=3), DESK, False, 5, "#tab-moves"),
    Screen("page-desktop-dark", Pig(target=50), DESK, True, 4, "#tab-strategy"),
    Screen("page-hidden", LiarsDice(), (1280, 720), False, 0, "#coach button", 12),
)


class ServedScreen(NamedTuple):
    """One picture of a page of `rollwise serve`; without a query, of the start page."""

    name: str
    query: str
    size: tuple[int, int]
    dark: bool
    moves: int = 0
    then: tuple[str, ...] = (".tools button",)


SERVED = (
    ServedScreen("serve-phone", "", PHONE, False),
    ServedScreen("serve-desktop-dark", "", DESK, True),
    ServedScreen("serve-phone-dark", "game=yahtzee&parameter=boxes=4", PHONE, True, 2),
    ServedScreen("serve-desktop", "game=royal-ur&parameter=pieces=3", DESK, False, 9),
    ServedScreen(
        "serve-desktop-map",
        "game=royal-ur&parameter=pieces=3",
        DESK,
        True,
        9,
        ("#tab-strategy", "#strategy .tools button"),
    ),
)


def pictures() -> Iterator[tuple[str, bytes]]:
    """The pictures by name, as PNG; none without a browser."""
    try:
        find_browser()
    except rollwise.RollwiseError:
        return
    sys.path.insert(0, str(ROOT / "tests"))
    from browser import Browser

    browser = Browser()
    try:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "page.html"
            for screen in SCREENS:
                _write_page(screen.game, place)
                browser.screen(*screen.size, dark=screen.dark)
                browser.visit(place)
                if screen.moves is not None:
                    _begin(browser, screen.seed)
                for _ in range(screen.moves or 0):
                    browser.click(".ask button")
                if screen.then:
                    browser.click(screen.then)
                browser.js("document.activeElement.blur()")
                yield screen.name, browser.picture()
        yield from _served(browser)
    finally:
        browser.close()


def _write_page(game: Game, place: Path) -> None:
    """Write the page of a game."""
    if game.is_hidden:
        answer = solve_hidden(game)
        place.write_text(page_of(answer, answer_blocks(answer)), encoding="utf-8")
    else:
        rollwise.solve(game).page(place)


def _begin(browser: Any, seed: int) -> None:
    browser.js(f"document.querySelector('input[type=number]').value = {seed}")
    browser.js("document.querySelector('form.setup').requestSubmit()")


def _served(browser: Any) -> Iterator[tuple[str, bytes]]:
    command = [sys.executable, "-u", "-m", "rollwise", "serve", "--port", "0"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            server.stdout.readline()
            url = server.stdout.readline().split()[0]
            time.sleep(1)  # until it listens
            for screen in SERVED:
                browser.screen(*screen.size, dark=screen.dark)
                (_start_page if not screen.query else _open_page)(browser, url, screen)
                browser.js("document.activeElement.blur(); scrollTo(0, 0)")
                yield screen.name, browser.picture()
        finally:
            server.terminate()


def _start_page(browser: Any, url: str, screen: ServedScreen) -> None:
    browser.go(url)
    browser.wait("document.querySelectorAll('.games .board').length > 2")
    time.sleep(2)  # for the other drawn starts


def _open_page(browser: Any, url: str, screen: ServedScreen) -> None:
    """The page of a game, which solves it first: its start asks for that."""
    browser.go(url)
    game = dict(part.split("=", 1) for part in screen.query.split("&"))
    name, value = game["parameter"].split("=")
    asked = json.dumps({"game": game["game"], "parameters": {name: value}})
    browser.js(
        "fetch('api/solve', {method: 'POST', headers: {'content-type': 'application/json'},"
        f" body: {json.dumps(asked)}}}).then(answer => answer.status)"
    )
    while browser.js(f"fetch('api/solve?{screen.query}').then(answer => answer.status)") == 202:
        time.sleep(0.2)
    browser.go(f"{url}page?{screen.query}")
    ready = "document.querySelector('.ask button') && !document.querySelector('.bottom .warning')"
    browser.wait(ready)
    _begin(browser, SEED)
    for _ in range(screen.moves):
        time.sleep(1)  # for the server
        browser.wait(ready)
        browser.click(".ask button")
    for place in screen.then:
        time.sleep(1)
        browser.click(place)
    time.sleep(1)
