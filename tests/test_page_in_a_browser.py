"""The mailed page in a browser, from its file: whole games by clicks and by keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, open_browser

import rollwise
from rollwise import Game
from rollwise.games.chicago import Chicago
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = open_browser()
    yield found
    found.close()


def opened(browser: Browser, game: Game, folder: Path) -> None:
    rollwise.solve(game).page(folder / "page.html")
    browser.open(folder / "page.html")


def heading(browser: Browser) -> str:
    return str(browser.js("document.querySelector('h2').textContent"))


@pytest.mark.needs_jit  # the same without; but solving takes a while
@pytest.mark.parametrize("by", ["clicks", "keys"])
@pytest.mark.parametrize(
    "game", [Pig(target=12), RoyalUr(pieces=1), Chicago(dice=1)], ids=lambda game: game.name
)
def test_a_whole_game(browser: Browser, tmp_path: Path, game: Game, by: str) -> None:
    opened(browser, game, tmp_path)
    first = "document.querySelector('.ask button')"
    for _ in range(300):
        if heading(browser) == "The game is over":
            break
        if by == "clicks":
            browser.click(".ask button")
        else:
            browser.js(f"{first}.focus()")
            browser.press("Enter")
    assert heading(browser) == "The game is over"
    assert browser.js("document.querySelector('.result').textContent")
    assert browser.errors == []
    assert browser.asked == []  # of the network


def test_it_fits_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    opened(browser, Pig(target=12), tmp_path)
    for width in (320, 1600):
        browser.screen(width, 700, dark=width == 320)
        assert browser.js("document.documentElement.scrollWidth") <= width
    assert browser.errors == []
