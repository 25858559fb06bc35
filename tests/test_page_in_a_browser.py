"""The mailed page in a browser, from its file: whole games by clicks and by keys alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, open_browser
from tests.little_games import HostileNames

import rollwise
from rollwise import Solution
from rollwise.answer.advice import advise
from rollwise.cli.printing import Figures
from rollwise.games.chicago import Chicago
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.games.yahtzee import Yahtzee
from rollwise.words import Narrator

GAMES = {
    "pig": Pig(target=12),
    "threes": Threes(dice=3),
    "super-six": SuperSix(sticks=3),
    "dice-blackjack": DiceBlackjack(),
    "royal-ur": RoyalUr(pieces=1),
    "royal-ur-2": RoyalUr(pieces=2),
    "chicago": Chicago(dice=1),
    "yahtzee": Yahtzee(boxes=1),
    "contest": rollwise.Duel(Threes(dice=2)),
    "names": HostileNames(),
}
# Two pieces of Ur take some seconds to solve and to pack.
PLAYED = [pytest.param(name, marks=[pytest.mark.slow] * (name == "royal-ur-2")) for name in GAMES]
ADVISED = [one for one in PLAYED if one.values[0] in ("pig", "threes", "yahtzee", "royal-ur-2")]
MOST_MOVES = 300


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = open_browser()
    yield found
    found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Makes the page of a game, once, and says where it is."""
    folder = tmp_path_factory.mktemp("pages")
    made: dict[str, Solution] = {}

    def page(name: str) -> tuple[Path, Solution]:
        place = folder / f"{name}.html"
        if name not in made:
            made[name] = rollwise.solve(GAMES[name])
            made[name].page(place)
            assert place.stat().st_size < 300_000
        return place, made[name]

    return page


def heading(browser: Browser) -> str:
    return str(browser.js("document.querySelector('h2').textContent"))


def is_asked(browser: Browser) -> bool:
    """Whether a button of what the player is asked has the focus."""
    return bool(browser.js("document.activeElement.closest('.ask') !== null"))


@pytest.mark.needs_jit  # the same without; but solving takes a while
@pytest.mark.parametrize("by", ["clicks", "keys"])
@pytest.mark.parametrize("name", PLAYED)
def test_a_whole_game(browser: Browser, pages: Any, name: str, by: str) -> None:
    browser.visit(pages(name)[0])
    for _ in range(MOST_MOVES):
        if heading(browser) == "The game is over":
            break
        if by == "clicks":
            browser.click(".ask button")
            continue
        for _ in range(20):  # tabs to come to the first choice
            if is_asked(browser):
                break
            browser.press("Tab")
        browser.press("Enter")
        assert is_asked(browser)  # the focus is on what is asked next
    assert heading(browser) == "The game is over"
    assert browser.js("document.querySelector('.result').textContent")
    assert "1 game" in browser.js("document.body.textContent.replace('One game', '1 game')")
    assert browser.errors == []
    assert browser.asked == []  # of the network
    assert browser.js("document.title") != "broken"


@pytest.mark.parametrize("name", ADVISED)
def test_the_coach_says_what_advise_says(browser: Browser, pages: Any, name: str) -> None:
    """In every position of a whole game in which there is a choice."""
    place, solution = pages(name)
    figures, narrator = Figures(solution), Narrator(solution.graph, solution.game)
    states = {narrator.position(s.index): s for s in solution.graph.view if s.is_choice}
    browser.visit(place)
    heard = 0
    for seed in range(2, 4):
        browser.js(f"document.querySelector('input[type=number]').value = {seed}")
        browser.js("document.querySelector('.setup form').requestSubmit()")
        for _ in range(MOST_MOVES):
            if heading(browser) == "The game is over":
                break
            browser.press("h")
            rows = browser.js(
                "[...document.querySelectorAll('.advice tbody tr')]"
                ".map(row => [...row.children].map(cell => cell.textContent))"
            )
            if rows:  # there is a choice
                words, thrown = browser.js(
                    "['.words', '.thrown strong']"
                    ".map(place => document.querySelector(place)?.textContent ?? '')"
                )
                state = states[f"{words}; thrown: {thrown}" if thrown else words]
                assert rows == expected_rows(solution, figures, state)
                heard += 1
            browser.click(".ask button:last-child")
        assert heading(browser) == "The game is over"
    assert heard
    assert browser.errors == []


def expected_rows(solution: Solution, figures: Figures, state: Any) -> list[list[str]]:
    """What `rollwise advise` says of a state, as the coach shows it."""
    found = advise(solution, state.index)
    return [
        [
            f"{'→ ' if one.best else ''}{one.action}",
            figures.level(one.value),
            "best" if one.best else figures.cost(one.regret),
        ]
        for one in sorted(found.actions, key=lambda one: one.regret)
    ]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["pig", "chicago", "names"])
def test_nobody_is_shut_out(browser: Browser, pages: Any, name: str, dark: bool) -> None:
    browser.screen(320, 700, dark=dark)
    browser.visit(pages(name)[0])
    for part in ("play", "strategy", "rules"):
        browser.click(f"#tab-{part}")
        if part == "play":
            for _ in range(MOST_MOVES):
                if heading(browser) == "The game is over":
                    break
                browser.click(".ask button")
        assert browser.shut_out() == []
    browser.screen(1000, 700)


@pytest.mark.parametrize("name", ["pig", "threes", "royal-ur"])
def test_the_map_is_explored(browser: Browser, pages: Any, name: str) -> None:
    """By lists and by keys; what stands beside it is what `advise` says."""
    place, solution = pages(name)
    figures, view = Figures(solution), solution.graph.view
    choices = [s for s in view if s.is_choice]
    browser.visit(place)
    browser.click("#tab-strategy")
    fields = solution.graph.field_names
    for state in choices[:: max(1, len(choices) // 6)]:
        wanted = {**state.address["state"], "thrown": " ".join(map(str, state.throw))}
        for _ in range(2):  # which throws there are depends on the position
            browser.js(
                "(wanted => { const places = '#strategy select, #strategy input';"
                " for (const one of document.querySelectorAll(places)) {"
                " const name = one.labels[0].textContent; if (!(name in wanted)) continue;"
                " one.value = wanted[name]; one.dispatchEvent(new Event('change')); } })"
                f"({json.dumps(wanted)})"
            )
        rows = browser.js(
            "[...document.querySelectorAll('#strategy .panel > .scroll tbody tr')]"
            ".map(row => [...row.children].map(cell => cell.textContent))"
        )
        assert rows == expected_rows(solution, figures, state), (fields, wanted)
    before = text_of(browser, "#strategy .panel")
    browser.js("document.querySelector('#strategy canvas').focus()")
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"):
        browser.press(key)
        if text_of(browser, "#strategy .panel") != before:
            break
    assert text_of(browser, "#strategy .panel") != before
    browser.js("const details = document.querySelector('#strategy .panel details');"
               "if (details) details.open = true; 0")  # fmt: skip
    if solution.graph.throws is not None:
        browser.wait("document.querySelectorAll('#strategy details tbody tr').length > 1")
    browser.click("#strategy .tools button:last-child")
    assert not browser.js("document.querySelector('#play').hidden")
    assert browser.errors == []


def text_of(browser: Browser, place: str) -> str:
    return str(browser.js(f"document.querySelector({json.dumps(place)}).textContent"))
