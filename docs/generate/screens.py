"""Screens of the mailed page, for docs/play.md: phones and desks, light and dark.

A browser takes them. Where none is installed they stay as they are.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import rollwise
from rollwise import Game
from rollwise.games.bear_off import TwoSidedBearOff
from rollwise.games.cant_stop import CantStop
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.plot.browser import find_browser

ROOT = Path(__file__).resolve().parents[2]
PHONE, DESK = (390, 844), (1100, 760)
SEED = 5


class Screen(NamedTuple):
    """One picture: the game, how many first choices are taken, and what is clicked then."""

    name: str
    game: Game
    size: tuple[int, int]
    dark: bool
    moves: int
    then: str = ""


SCREENS = (
    Screen("page-phone", Pig(target=50), PHONE, False, 4),
    Screen("page-phone-dark", RoyalUr(pieces=2), PHONE, True, 12),
    Screen("page-phone-box", ShutTheBox(), PHONE, False, 5, ".tools button"),
    Screen("page-phone-bear-off", TwoSidedBearOff(checkers=2), PHONE, True, 3),
    Screen("page-desktop", RoyalUr(pieces=2), DESK, False, 13, ".tools button"),
    Screen("page-desktop-columns", CantStop(sides=3), DESK, False, 5),
    Screen("page-desktop-dark", Pig(target=50), DESK, True, 0, "#tab-strategy"),
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
                rollwise.solve(screen.game).page(place)
                browser.screen(*screen.size, dark=screen.dark)
                browser.visit(place)
                browser.js(f"document.querySelector('input[type=number]').value = {SEED}")
                browser.js("document.querySelector('.setup form').requestSubmit()")
                for _ in range(screen.moves):
                    browser.click(".ask button")
                if screen.then:
                    browser.click(screen.then)
                browser.js("document.activeElement.blur(); scrollTo(0, 0)")
                yield screen.name, browser.picture()
    finally:
        browser.close()
