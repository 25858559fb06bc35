"""The mailed page in a browser, from its file: whole games by clicks and by keys alone."""

from __future__ import annotations

import json
import math
import statistics
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
from rollwise.coach.score_bins import counted, score_bins
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


def test_calm_pages_move_nothing(browser: Browser, pages: Any) -> None:
    moves = "getComputedStyle(document.querySelector('.die')).animationName"
    for calm in (True, False):
        browser.screen(600, 700, calm=calm)
        browser.visit(pages("pig")[0])
        browser.click(".ask button")
        browser.wait("document.querySelector('.die')")
        assert (browser.js(moves) == "none") is calm
    browser.screen(1000, 700)


def test_it_fits_on_a_phone(browser: Browser, pages: Any) -> None:
    for name in ("pig", "royal-ur", "names"):
        browser.visit(pages(name)[0])
        for width in (320, 1600):
            browser.screen(width, 700, dark=width == 320)
            for part in ("strategy", "rules", "play"):
                browser.click(f"#tab-{part}")
                assert browser.js("document.documentElement.scrollWidth") <= width, (name, part)
    assert browser.errors == []


def test_a_notebook_shows_it(browser: Browser, tmp_path: Path) -> None:
    """`play` and `explore` in a frame, which lets scripts run as notebooks do."""
    solution = rollwise.solve(GAMES["pig"])
    shown = {"play": solution.play(), "strategy": solution.explore()}
    for part, made in shown.items():
        (tmp_path / "notebook.html").write_text(
            f"<!DOCTYPE html><meta charset=utf-8>{made._repr_html_()}"
            "<script>document.querySelector('iframe').onload = () =>"
            " document.documentElement.dataset.ready = '1'</script>",
            encoding="utf-8",
        )
        browser.visit(tmp_path / "notebook.html")
        inside = "document.querySelector('iframe').contentDocument"
        browser.wait(f"{inside}.documentElement.dataset.ready")
        assert browser.js(f"{inside}.querySelector('#{part}').hidden") is False
    assert browser.errors == []


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


def set_up(browser: Browser, **chosen: str) -> None:
    """Begin a game with these choices, by the names of their controls."""
    browser.js(
        f"(chosen => {{ for (const one of document.querySelectorAll('.setup select, .setup input'))"
        " { const name = one.labels[0].textContent; if (name in chosen) one.value = chosen[name]; }"
        " document.querySelector('.setup form').requestSubmit(); })"
        f"({json.dumps({name.replace('_', ' '): x for name, x in chosen.items()})})"
    )


def text_of(browser: Browser, place: str) -> str:
    return str(browser.js(f"document.querySelector({json.dumps(place)}).textContent"))


def buttons(browser: Browser) -> list[str]:
    found: list[str] = browser.js(
        "[...document.querySelectorAll('.ask button, .tools button')].map(one => one.textContent)"
    )
    return found


def press_button(browser: Browser, name: str) -> None:
    browser.js(
        "[...document.querySelectorAll('.ask button, .tools button')]"
        f".find(one => one.textContent === {json.dumps(name)}).click()"
    )


def test_two_people_throw_real_dice(browser: Browser, pages: Any) -> None:
    """A friend beside you, and what the dice on the table show is typed."""
    browser.visit(pages("pig")[0])
    set_up(browser, Moves_first="person", Moves_second="person", Dice="typed")
    assert heading(browser) == "Player 1 to move"
    for face, said in ((4, "4 at risk"), (1, "Player 2 to move"), (6, "6 at risk")):
        press_button(browser, "roll")
        assert "The die shows" in text_of(browser, ".ask")
        browser.js(f"document.querySelector('.dice select').value = {face}")
        press_button(browser, "Take this")
        assert said in text_of(browser, ".panel")
    press_button(browser, "hold")
    assert heading(browser) == "Player 1 to move"
    assert "the other has 6" in text_of(browser, ".words")
    press_button(browser, "Undo")  # the hold
    assert heading(browser) == "Player 2 to move"
    press_button(browser, "hold")
    for face in (6, 6):
        press_button(browser, "roll")
        browser.js(f"document.querySelector('.dice select').value = {face}")
        press_button(browser, "Take this")
    if "hold" in buttons(browser):
        press_button(browser, "hold")
    assert text_of(browser, ".result") == "Player 1 wins"
    assert browser.errors == []


def test_the_coach_warns_or_is_silent(browser: Browser, pages: Any) -> None:
    browser.visit(pages("pig")[0])
    first = {"Moves_first": "person", "Moves_second": "policy hold-at-20", "Dice": "typed"}
    set_up(browser, **first, Coach="mistakes")
    assert "hold-at-20" in browser.js("document.querySelector('.setup').textContent")
    press_button(browser, "roll")
    browser.js("document.querySelector('.dice select').value = 2")
    press_button(browser, "Take this")
    press_button(browser, "hold")  # with 2 points
    assert "choice: it costs" in text_of(browser, ".advice .warning")
    assert {"Let it stand", "Take it back"} <= set(buttons(browser))
    press_button(browser, "Take it back")
    assert "2 in the bank" not in text_of(browser, ".words")
    press_button(browser, "hold")
    press_button(browser, "Let it stand")
    assert heading(browser) != "Your move"  # the other one's dice are typed too
    set_up(browser, **first, Coach="off")
    assert "Ask the coach" not in buttons(browser)
    browser.press("h")
    assert text_of(browser, ".advice") == ""
    assert "%" not in text_of(browser, ".books")
    set_up(browser, **(first | {"Dice": "fall"}), Coach="off", Seed="4")
    for _ in range(MOST_MOVES):
        if heading(browser) == "The game is over":
            break
        press_button(browser, "roll")
    assert "Choices of You" in text_of(browser, ".books")  # in the end it says what it thinks
    assert browser.errors == []


def test_games_are_added_up_and_can_be_kept(browser: Browser, pages: Any) -> None:
    browser.visit(pages("pig")[0])
    browser.js("document.querySelector('input[type=number]').value = 3")
    browser.js("document.querySelector('.setup form').requestSubmit()")
    for game in range(2):
        for _ in range(MOST_MOVES):
            if heading(browser) == "The game is over":
                break
            browser.click(".ask button:last-child")
        assert f"{game + 1} games" in browser.js(
            "document.querySelector('.books').textContent.replace('One game ', '1 games ')"
        )
        browser.click(".ask button")
    browser.js(
        "URL.createObjectURL = blob => { globalThis.kept = blob; return 'data:,'; };"
        "HTMLAnchorElement.prototype.click = function () { globalThis.kept_as = this.download; }"
    )
    browser.click(".books .tools button")
    assert browser.js("kept_as") == "pig.jsonl"
    kept = [json.loads(line) for line in browser.js("kept.text()").splitlines()]
    assert [(one["game"], one["parameters"]["target"]) for one in kept] == [("pig", 12)] * 2
    browser.click(".books td button")  # play a position again where something was lost
    assert heading(browser) == "Your move"
    assert browser.errors == []


def test_scores_stand_over_those_of_best_play(browser: Browser, pages: Any) -> None:
    """And it says how many games it takes to be told from best play, as `play --games` does."""
    place, solution = pages("threes")
    browser.visit(place)
    points, costs = [], []
    for _ in range(4):
        for _ in range(MOST_MOVES):
            if heading(browser) == "The game is over":
                break
            browser.click(".ask button")
        points.append(float(browser.js("document.querySelector('.result').textContent").split()[0]))
        cells = browser.js(
            "[...document.querySelectorAll('.books details:first-child tbody tr')]"
            ".map(row => [...row.children].map(cell => cell.textContent))"
        )
        costs.append(math.fsum(float(row[3]) for row in cells if len(row) > 4 and row[3]))
        browser.click(".ask button")
    rows = browser.js(
        "[...document.querySelectorAll('[aria-label^=Scores] tbody tr')]"
        ".map(row => [...row.children].map(cell => cell.textContent))"
    )
    bins = score_bins(solution)
    made = [100 * n / 4 for n in counted(bins, points)]
    expected = [[one.text, f"{n:.1f} %", f"{100 * one.chance:.1f} %", ""]
                for one, n in zip(bins, made, strict=True)]  # fmt: skip
    assert rows == expected
    told = browser.js(
        "[...document.querySelectorAll('.books tr')].map(row => row.textContent)"
        ".find(text => text.startsWith('Games until'))"
    )
    games = statistics.variance(points) * (1.96 / statistics.mean(costs)) ** 2
    assert int(told.rpartition(")")[2].replace(",", "")) == pytest.approx(games, rel=0.01, abs=1)
    assert browser.errors == []
