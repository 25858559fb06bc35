"""The mailed page in a browser, from its file: whole games by clicks and by keys alone."""

from __future__ import annotations

import json
import re
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from browser import NINTH_SQUARE, OWN_PIECE, Browser, heading
from tests.little_games import Faces, Fortune, Hills, HostileNames, Lamplighters, PassAChip
from tests.test_enumerations import RULES

import rollwise
from rollwise import AGAIN, END, PASS, WIN, Solution, boards, dice, payoff
from rollwise.analysis.thumb.frontier import find_rules
from rollwise.answer.advice import advise
from rollwise.answer.references import Policies
from rollwise.documents.played import Figures
from rollwise.game import Game
from rollwise.games import find
from rollwise.games.big_wheel import BigWheel, Wheel
from rollwise.games.bozo import Bozo
from rollwise.games.chicago import Chicago
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.farkle import FarkleTurn
from rollwise.games.gamblers_problem import GamblersProblem
from rollwise.games.left_center_right import LeftCenterRight
from rollwise.games.pig import Pig, Piglet
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.games.yahtzee import Yahtzee
from rollwise.hidden import solve as solve_hidden
from rollwise.page.hidden import page_of
from rollwise.plot.boards import Cards
from rollwise.report.cheat_sheet import cheat_sheet, write_page
from rollwise.words import Narrator

EXAMPLES = Path(__file__).parents[1] / "examples"
GAMES = {
    "pig": Pig(target=12),
    "pig-3": Pig(target=8, players=3),
    "threes": Threes(dice=3),
    "super-six": SuperSix(sticks=3),
    "dice-blackjack": DiceBlackjack(),
    "royal-ur": RoyalUr(pieces=1),
    "chicago": Chicago(dice=1),
    "shut-the-box": ShutTheBox(tiles=4),
    "yahtzee": Yahtzee(boxes=1),
    "yahtzee-2": Yahtzee(boxes=2),
    "bozo": Bozo(sheet="five"),
    "contest": rollwise.Duel(Threes(dice=2)),
    "cube": Pig(target=8).cube(2),
    "cube-ur": RoyalUr(pieces=1).cube(2),
    "match": Pig(target=5).cube(match=2),
    "names": HostileNames(),
    "faces": Faces(),
    "hills": Hills(),
    "pass-a-chip": PassAChip(),
    "lamplighters": Lamplighters(),
    "left-center-right": LeftCenterRight(chips=1, players=4),
    "big-wheel-3": BigWheel(steps=4, players=3),
    "who-stops": find(str(EXAMPLES / "who_stops.py"))(),
}

MOST_MOVES = 300


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


def is_asked(browser: Browser) -> bool:
    """Whether a button of what the player is asked has the focus."""
    return bool(browser.js("document.activeElement.closest('.ask') !== null"))


@pytest.mark.needs_jit  # the same without; but solving takes a while
@pytest.mark.parametrize(
    ("name", "by"),
    [
        *((name, "clicks") for name in GAMES),
        *((name, by) for name in ("pig", "threes", "royal-ur") for by in ("keys", "touch")),
    ],
)
def test_a_whole_game(browser: Browser, pages: Any, name: str, by: str) -> None:
    browser.visit(pages(name)[0])
    for _ in range(MOST_MOVES):
        if heading(browser) == "The game is over":
            break
        if by != "keys":
            (browser.click if by == "clicks" else browser.touch)(".ask button")
            continue
        for _ in range(20):  # tabs to come to the first choice
            if is_asked(browser):
                break
            browser.press("Tab")
        browser.press("Enter")
        assert is_asked(browser)  # the focus is on what is asked next
    assert heading(browser) == "The game is over"
    assert browser.js("document.querySelector('.result').textContent")
    if name == "pig":  # the final position
        most = "Math.max(...[...document.querySelectorAll('.count b')].map(one => one.textContent))"
        assert browser.js(most) >= 12
    assert "1 game" in browser.js("document.body.textContent.replace('One game', '1 game')")
    assert browser.errors == []
    assert browser.asked == []  # of the network
    assert browser.js("document.title") != "broken"


@pytest.mark.parametrize("name", ["pig", "threes", "yahtzee", "shut-the-box"])
def test_the_coach_says_what_advise_says(browser: Browser, pages: Any, name: str) -> None:
    """In every position of a whole game in which there is a choice."""
    place, solution = pages(name)
    figures, narrator = Figures.of(solution), Narrator(solution.graph, solution.game)
    states = {narrator.position(s.index): s for s in solution.graph.view if s.is_choice}
    browser.visit(place)
    heard = 0
    for seed in range(2, 4):
        browser.press("n")
        browser.js(f"document.querySelector('input[type=number]').value = {seed}")
        browser.js("document.querySelector('form.setup').requestSubmit()")
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
    assert browser.shut_out() == []
    for moves in range(MOST_MOVES):
        if heading(browser) == "The game is over":
            break
        if moves == 2:
            assert browser.shut_out() == []
        browser.click(".ask button")
    for part in ("coach", "moves", "strategy", "rules"):
        browser.click(f"#tab-{part}")
        assert browser.shut_out() == []
    browser.screen(1280, 800)


@pytest.mark.parametrize("name", ["pig", "threes", "super-six"])
def test_the_map_is_explored(browser: Browser, pages: Any, name: str) -> None:
    """By lists and by keys; what stands beside it is what `advise` says."""
    place, solution = pages(name)
    figures, view = Figures.of(solution), solution.graph.view
    choices = [s for s in view if s.is_choice]
    browser.visit(place)
    browser.click("#tab-strategy")
    fields = solution.graph.field_names
    for state in choices[:: max(1, len(choices) // 6)]:
        wanted = {name.replace("_", " "): n for name, n in state.address["state"].items()}
        wanted["thrown"] = " ".join(map(str, state.throw))
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
    assert not browser.js("document.querySelector('#coach').hidden")
    assert browser.errors == []


def test_a_set_is_edited_by_its_members(browser: Browser, pages: Any) -> None:
    """And no map goes along its numbers."""
    browser.visit(pages("shut-the-box")[0])
    browser.click("#tab-strategy")
    axes = browser.js("[...document.querySelectorAll('#strategy section option')].map(o => o.text)")
    assert "open" not in axes
    assert text_of(browser, "#strategy .words").startswith("open: 1 2 3 4;")
    browser.click("#strategy .tiles button:nth-of-type(2)")
    assert text_of(browser, "#strategy .words").startswith("open: 1 3 4;")
    assert browser.errors == []


def test_a_game_without_cells_has_a_board_of_its_fields(browser: Browser, pages: Any) -> None:
    place, solution = pages("chicago")
    assert type(solution.game).cells is Game.cells
    browser.visit(place)
    names = browser.js(
        "[...document.querySelectorAll('.place .card .name')].map(n => n.textContent)"
    )
    assert names
    assert {name.replace(" ", "_") for name in names} <= set(solution.graph.field_names)


def choices(browser: Browser) -> list[str]:
    found: list[str] = browser.js(
        "[...document.querySelectorAll('.choices button')].map(b => b.innerText)"
    )
    return found


def test_choices_say_what_comes_of_them(browser: Browser, pages: Any) -> None:
    """Also where the turn passes, after a throw, and of three players.

    Changes that each choice brings are left out.
    """
    browser.visit(pages("lamplighters")[0])
    assert browser.js("document.querySelectorAll('.place .owned').length") == 4
    browser.js("document.querySelector('form.setup').requestSubmit()")
    browser.click(".ask button")
    thrown = choices(browser)[0][-1]
    assert thrown in "12"
    assert choices(browser) == [f"light\nlit 0 → {thrown}", "blow\nnext lit 1 → 0"]


def test_a_large_game_tells_what_is_told_alike(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many outcomes: throws of fewer dice, points after a choice, and points at the end."""
    monkeypatch.setattr("rollwise.page.words.MOST_ASKED", 1_000)
    rollwise.solve(FarkleTurn(most=300)).page(tmp_path / "page.html")
    browser.visit(tmp_path / "page.html")
    browser.js("document.querySelector('form.setup').requestSubmit()")
    assert text_of(browser, ".place") == "0 points so far; 6 dice to throw"
    while heading(browser) != "The game is over":
        browser.click(".ask button:last-child, .choices button:last-child")
        for text in choices(browser):
            name, _, told = text.partition("\n")
            pattern = {"stop": r"\d+ points", "throw": "", "farkle": "the end"}
            assert re.fullmatch(pattern.get(name, r"\d+ points so far; .+ to throw"), told), text
    browser.js("document.querySelectorAll('#moves .row').forEach(one => one.click())")
    assert not re.search(r"\b0 and|and 0\b", text_of(browser, "#moves"))
    assert browser.errors == []


class Stakes(NamedTuple):
    money: int
    left: int


class Purse(Game):
    """Stake something or nothing on a coin, twice; the money is paid."""

    players = 1

    def start(self) -> Stakes:
        return Stakes(2, 2)

    def actions(self, s: Stakes) -> Any:
        yield from (0, 1)

    def action_text(self, s: Stakes, action: int) -> str:
        return f"stake {action}"

    def outcomes(self, s: Stakes, action: int) -> Any:
        for ways, gained in ((2, action), (3, -action)):
            money = s.money + gained
            yield ways, payoff(money - 2) if s.left == 1 else AGAIN, Stakes(money, s.left - 1)


def test_payoffs_of_choices_are_said_with_their_chances(browser: Browser, tmp_path: Path) -> None:
    rollwise.solve(Purse()).page(tmp_path / "page.html")
    browser.visit(tmp_path / "page.html")
    browser.js("document.querySelector('form.setup').requestSubmit()")
    browser.click(".choices button")
    assert choices(browser) == [
        "stake 0\nnothing gained",
        "stake 1\n2 in 5: you win 1; 3 in 5: you lose 1",
    ]
    browser.click("[data-key='2']")
    assert "Results depend on the luck" in text_of(browser, "#moves")
    assert not re.search(r"(?<!e)-\d", browser.js("document.querySelector('main').innerText"))


class Paint(IntEnum):
    VERMILION = 0
    ULTRAMARINE = 1


class Wall(NamedTuple):
    paint: Paint
    is_wet: bool
    is_dry: bool
    coats: int


class Painter(Game):
    """Paint a wall twice. Most brushes cost a little."""

    players = 1

    def start(self) -> Wall:
        return Wall(Paint.VERMILION, False, True, 0)

    def actions(self, s: Wall) -> Any:
        return range(5)

    def outcomes(self, s: Wall, action: int) -> Any:
        after = Wall(Paint.ULTRAMARINE, not s.is_wet, not s.is_dry, s.coats + 1)
        yield 1, payoff(2 - action / 10_000) if s.coats else AGAIN, after


def test_words_and_outlines_have_room_and_little_costs_one_sign(
    browser: Browser, tmp_path: Path
) -> None:
    rollwise.solve(Painter()).page(tmp_path / "page.html")
    browser.screen(390, 844)
    browser.visit(tmp_path / "page.html")
    whole = (
        "[...document.querySelectorAll('.card strong')]"
        ".every(one => one.clientHeight < 1.5 * parseFloat(getComputedStyle(one).fontSize))"
    )
    assert browser.js(whole)
    browser.screen(1280, 800)
    browser.js("document.querySelector('form.setup').requestSubmit()")
    assert browser.js(whole)
    assert browser.js(
        "document.querySelector('.choices button').getBoundingClientRect().left"
        " - document.querySelector('.choices').getBoundingClientRect().left"
    ) >= 5  # the outline of the focus  # fmt: skip
    browser.js("[...document.querySelectorAll('.tools button')][1].click()")
    options = "[...document.querySelectorAll('.ask option')].map(one => one.textContent)"
    assert browser.js(options)[:4] == ["vermilion", "ultramarine", "false", "true"]
    browser.js(
        "(list => { list.value = 1; list.dispatchEvent(new Event('change')); })"
        "(document.querySelector('.ask select'))"
    )
    assert text_of(browser, "[role=alert]") == "No play comes to such a position."
    browser.press("Escape")
    browser.click("[data-key='1']")
    browser.click("[data-key='2']")
    assert text_of(browser, ".unit") == "Result"
    assert text_of(browser, "#moves li:last-child .number") == "<0.001+0.000"
    assert "keep a die" not in browser.js("document.querySelector('#rules').textContent")
    assert browser.errors == []


def test_few_points_are_good_with_one_sign(browser: Browser, pages: Any) -> None:
    """The luck of the only player's dice in the books of a game, and in those of all games."""
    browser.visit(pages("threes")[0])
    browser.js("document.querySelector('form.setup').requestSubmit()")
    while heading(browser) != "The game is over":
        browser.click(".ask button")
    browser.js("document.querySelector('#tab-moves').click()")
    said = text_of(browser, "#moves")
    (dice,) = re.findall(r"Your dice\s*([−+][\d.]+)", said)
    assert re.search(rf"Luck a game, in points\s*{re.escape(dice)}", said)


def test_a_game_without_choices_has_no_words_of_decisions(browser: Browser, tmp_path: Path) -> None:
    rollwise.solve(find("craps")()).page(tmp_path / "page.html")
    browser.visit(tmp_path / "page.html")
    browser.js("document.querySelector('form.setup').requestSubmit()")
    while heading(browser) != "The game is over":
        browser.click(".ask button")
    browser.js("document.querySelector('#tab-moves').click()")
    said = text_of(browser, "#moves")
    assert "No decisions." in said
    assert not re.search("doubtful|by your choices|Beside it|mistakes", said)


def test_the_chart_of_moves_is_on_a_phone_with_the_moves_only(browser: Browser, pages: Any) -> None:
    browser.screen(375, 667)
    browser.visit(pages("pig")[0])
    browser.js("document.querySelector('form.setup').requestSubmit()")
    browser.click(".ask button")
    seen = {}
    for name in ("coach", "rules", "moves"):
        browser.js(f"document.querySelector('#tab-{name}').click()")
        seen[name] = browser.js("document.querySelector('.side > figure').clientHeight > 0")
    browser.screen(1280, 800)
    assert seen == {"coach": False, "rules": False, "moves": True}


class Crossed(NamedTuple):
    last: int
    misses: int


class OneRow(Game):
    """Cross sums of two dice in rising order, or take a miss."""

    players, objective = 1, "maximize"
    action_names = ("miss", "cross")

    def start(self):
        return Crossed(1, 0)

    def throws(self, s):
        return dice.total(2, 6)

    def actions(self, s, throw):
        return (0, 1) if throw > s.last else (0,)

    def reward(self, s, throw, action):
        return action

    def outcomes(self, s, throw, action):
        after = Crossed(throw, s.misses) if action else Crossed(s.last, s.misses + 1)
        yield 1, END if after.last == 12 or after.misses == 3 else AGAIN, after

    def cells(self, s):
        row = [boards.box(str(k), filled=k <= s.last) for k in range(2, 13)]
        return [row, [boards.label("misses"), boards.bar(s.misses, of=3)]]


def test_boxes_of_a_wide_row_keep_their_words(browser: Browser, tmp_path: Path) -> None:
    rollwise.solve(OneRow()).page(tmp_path / "row.html")
    browser.visit(tmp_path / "row.html")
    for width in (500, 1200):
        browser.screen(width, 900)
        heights = browser.js("[...document.querySelectorAll('.box')].map(one => one.clientHeight)")
        assert len(heights) == 11
        assert len(set(heights)) == 1  # "10" isn't written as a 1 above a 0
        left = "document.querySelector('{}').getBoundingClientRect().left"
        assert browser.js(f"{left.format('.label')} >= {left.format('.board')}")


class Rising(NamedTuple):
    mine: int
    theirs: int
    risked: int


class Unspoken(Game):
    """A race without words: a one loses the steps of the turn."""

    action_names = ("roll", "keep")
    endless = "draw"

    def start(self) -> Rising:
        return Rising(0, 0, 0)

    def actions(self, s: Rising) -> Any:
        yield 0
        if s.risked:
            yield 1

    def outcomes(self, s: Rising, action: int) -> Any:
        if action == 1:
            over = s.mine + s.risked >= 6
            yield 1, WIN if over else PASS, Rising(s.theirs, s.mine + s.risked, 0)
            return
        yield 1, PASS, Rising(s.theirs, s.mine, 0)
        for face in (2, 3, 4):
            yield 1, AGAIN, Rising(s.mine, s.theirs, min(s.risked + face, 6))


def test_a_choice_says_that_the_turn_may_pass(browser: Browser, tmp_path: Path) -> None:
    """Beside changes of fields, which don't tell it."""
    rollwise.solve(Unspoken()).page(tmp_path / "page.html")
    browser.visit(tmp_path / "page.html")
    browser.js("document.querySelector('form.setup').requestSubmit()")
    while len(choices(browser)) < 2:
        browser.click(".ask button")
    said = choices(browser)[0].partition("\n")[2]
    assert re.match(r"1 in 4: risked \d → 0, the turn passes", said)


def test_a_page_of_a_hidden_game_says_how_sure_its_numbers_are(
    browser: Browser, tmp_path: Path
) -> None:
    hidden = find("hidden-wheel")(steps=4)
    html = page_of(solve_hidden(hidden), [])
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    browser.visit(tmp_path / "page.html")
    browser.js("document.querySelectorAll('form select')[0].value = '1'")
    browser.js("document.querySelector('form.setup').requestSubmit()")
    assert text_of(browser, ".unit").endswith("; value of the game exact")
    assert "?" in text_of(browser, ".board")
    assert browser.errors == []


def test_words_in_backticks_are_code_in_the_rules_of_a_hidden_game(
    browser: Browser, tmp_path: Path
) -> None:
    class Coded(find("hidden-wheel")):  # type: ignore[misc]
        """The wheel has `steps` steps."""

    html = page_of(solve_hidden(Coded(steps=3)), [])
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    browser.visit(tmp_path / "page.html")
    assert text_of(browser, "#rules p") == "The wheel has steps steps."
    assert text_of(browser, "#rules code") == "steps"
    assert browser.errors == []


def test_choices_say_their_points(browser: Browser, pages: Any) -> None:
    browser.visit(pages("yahtzee-2")[0])
    browser.js("document.querySelector('form.setup').requestSubmit()")
    while not choices(browser)[0].startswith("ones"):
        browser.click(".ask button")
    names = "[...document.querySelectorAll('.tray .die')].map(die => die.ariaLabel.at(-1))"
    ones, twos = (face * browser.js(names).count(str(face)) for face in (1, 2))
    assert [text.splitlines()[1].split(";")[0] for text in choices(browser)] == [
        f"{points} {'point' if points == 1 else 'points'}" for points in (ones, twos)
    ]
    while heading(browser) != "The game is over":
        browser.click(".ask button")
    assert re.search(r"\d+ points? in all$", text_of(browser, ".news"))


@pytest.mark.parametrize("name", ["faces", "hills", "pass-a-chip", "bozo", "pig-3", "lamplighters"])
@pytest.mark.parametrize(("width", "height"), [(320, 844), (360, 640)])
def test_a_board_fits_a_telephone(
    browser: Browser, pages: Any, name: str, width: int, height: int
) -> None:
    """Before the game and in it, each number is in its card, and each cell on the table."""
    outside = (
        "(() => { const far = (inner, outer) => { const [i, o] = [inner, outer]"
        ".map(one => one.getBoundingClientRect()); return i.left < o.left - 1 ||"
        " i.right > o.right + 1 || i.top < o.top - 1 || i.bottom > o.bottom + 1; };"
        "const table = document.querySelector('.place');"
        "return [...table.querySelectorAll('.card strong')].filter(one =>"
        " far(one, one.closest('.card'))).length + [...table.querySelectorAll('.card, .bar')]"
        ".filter(one => far(one, table)).length; })()"
    )
    browser.screen(width, height)
    try:
        browser.visit(pages(name)[0])
        assert browser.js(outside) == 0
        for _ in range(8):
            browser.click(".ask button")
            assert browser.js(outside) == 0
    finally:
        browser.screen(1280, 800)


def test_numbers_of_players_have_bars_of_one_scale(browser: Browser, pages: Any) -> None:
    """Two chips of each player have bars of the same length, whatever each may come to have."""
    place, solution = pages("pass-a-chip")
    chips = solution.graph.states[:, :3]
    assert len({*zip(chips.min(axis=0), chips.max(axis=0), strict=True)}) > 1
    browser.visit(place)
    widths = browser.js("[...document.querySelectorAll('.scale i')].map(one => one.style.width)")
    assert len(widths) == 6
    assert len(set(widths[::2])) == 1
    bars = re.findall(r'width="([0-9.]+)"[^>]*fill="#0072B2"', Cards(solution).html(0, ""))
    assert bars[:3] == 3 * ["80.0"]  # in reports too


def test_dice_with_words_of_four_players_lie_apart(browser: Browser, pages: Any) -> None:
    """Words are wider than a die, and an outcome without words is named by its dice."""
    browser.screen(1280, 800)
    browser.visit(pages("left-center-right")[0])
    assert "Opponent 1" in text_of(browser, ".place")
    assert "Opponent 3" in text_of(browser, ".place")
    assert text_of(browser, ".words") == "1 chip, the others 1, 1 and 1; 0 in the pot"
    assert text_of(browser, ".setup > p") == "No player ever has a choice: the dice decide."
    assert not browser.js("document.querySelectorAll('.opponent').length")
    begin(browser, seed=1)
    browser.wait("document.querySelector('details[open] tbody th')")
    came = browser.js(
        "[...document.querySelectorAll('details[open] tbody th')].map(one => one.textContent)"
    )
    assert "left; the turn passes" in came
    assert len(set(came)) == len(came)
    browser.screen(360, 740)
    browser.click(".ask button")
    browser.wait("document.querySelector('.news .face')")
    wide = "[...document.querySelectorAll('.die:has(.face)')].every(die => die.offsetWidth >= "
    assert browser.js(f"{wide}die.querySelector('.face').offsetWidth)")
    assert "Perfect play 1" in text_of(browser, ".score")
    assert "Perfect play 4" not in text_of(browser, ".score")


def test_a_bar_has_the_colour_of_its_player(browser: Browser, pages: Any) -> None:
    """Of three players, the total to beat belongs to the one who holds it."""
    game = BigWheel(steps=4, players=3)
    held = game.cells(Wheel(0, 3, (0, 1), 0))
    assert [row[-1].numbers[3] for row in held] == [0, 2]
    browser.visit(pages("big-wheel-3")[0])
    assert [text_of(browser, f".place {name}") for name in (".seat", ".label")] == [
        "You",
        "to beat",
    ]


def test_a_game_of_one_position_says_so(browser: Browser, pages: Any) -> None:
    browser.visit(pages("who-stops")[0])
    assert text_of(browser, ".place .words") == "There is only one position."
    browser.click("#tab-strategy")
    assert browser.js("document.querySelector('.map').clientHeight") == 0


def test_an_optimal_policy_is_said_to_be_as_good(browser: Browser, tmp_path: Path) -> None:
    rollwise.solve(GamblersProblem(capital=3, goal=5)).page(tmp_path / "page.html")
    browser.visit(tmp_path / "page.html")
    assert "bold is as good, within the certified error" in text_of(browser, ".measures")


def test_a_board_that_does_not_fit_is_scrolled_by_keys(browser: Browser, pages: Any) -> None:
    browser.screen(320, 420)
    browser.visit(pages("super-six")[0])
    browser.click(".start")
    browser.wait("document.querySelector('.place').tabIndex === 0")
    assert browser.shut_out() == []
    browser.screen(1280, 800)
    browser.wait("document.querySelector('.place').tabIndex === -1")


def test_three_players_have_opponents(browser: Browser, pages: Any) -> None:
    browser.visit(pages("pig-3")[0])
    assert text_of(browser, ".opponents legend") == "Your opponents (certified chances)"
    strength = text_of(browser, "[data-policy=random]")
    assert strength.endswith("against two of these; a fair share is 33.33 %.")
    browser.screen(360, 640)
    within = "document.querySelector('.start').getBoundingClientRect().bottom < innerHeight - 40"
    assert browser.js(within)  # above the tabs, without scrolling


def test_two_numbers_of_each_player_have_names_on_a_telephone(browser: Browser, pages: Any) -> None:
    """A single one has none there, for want of room."""
    shown = (
        "[...document.querySelectorAll('.owned:has(.seat) .name')]"
        ".filter(one => one.offsetWidth).map(one => one.textContent)"
    )
    browser.screen(390, 844)
    try:
        browser.visit(pages("pass-a-chip")[0])
        assert browser.js(shown) == 3 * ["chips", "turns"]
        browser.visit(pages("faces")[0])
        assert browser.js(shown) == []
    finally:
        browser.screen(1280, 800)


@pytest.mark.parametrize("game", [Fortune(), LeftCenterRight(chips=1, players=4)])
def test_results_fit_a_telephone(browser: Browser, tmp_path: Path, game: Game) -> None:
    """A long number is broken, and the bar of seats shows all of each one's text."""
    place = tmp_path / "report.html"
    rollwise.solve(game).report(place)
    browser.screen(375, 844)
    try:
        browser.call("Page.navigate", url=place.as_uri())
        browser.wait("document.readyState === 'complete'")
        assert browser.js("document.documentElement.scrollWidth") == 375
        results = "[...document.querySelectorAll('.big, .edge, .edge div')]"
        assert browser.js(f"{results}.length") > 0
        assert browser.js(f"{results}.every(one => one.scrollWidth <= one.clientWidth)")
    finally:
        browser.leave()
        browser.screen(1280, 800)


@pytest.mark.parametrize(
    ("written", "game"), [("report", Faces()), ("sheet", Faces()), ("sheet", Piglet(target=20))]
)
def test_a_report_fits_a_telephone(
    browser: Browser, tmp_path: Path, written: str, game: Game
) -> None:
    """It doesn't scroll sideways; its rules of thumb have lines of some words."""
    place, policies = tmp_path / f"{written}.html", Policies.of(rollwise.solve(game))
    if written == "sheet":
        write_page(cheat_sheet(policies, find_rules(policies, 2, evaluations=50)).html, place)
    else:
        policies.solution.report(place, rules=50)
    browser.screen(360, 844)
    try:
        browser.call("Page.navigate", url=place.as_uri())
        browser.wait("document.readyState === 'complete'")
        assert browser.js("document.documentElement.scrollWidth") == 360
        rule = "document.querySelector('.scroll td.text:last-child').getBoundingClientRect().width"
        assert browser.js(rule) > 200
    finally:
        browser.leave()
        browser.screen(1280, 800)


def test_a_piece_is_moved_by_a_click_on_it(browser: Browser, pages: Any) -> None:
    """A tile of Shut the Box that only one choice shuts; on the choice, its tiles are marked."""
    browser.visit(pages("shut-the-box")[0])
    for _ in range(MOST_MOVES):
        if browser.js("document.querySelector('.clickable') !== null"):
            break
        browser.click(".ask button")
    enter = "b => b.dispatchEvent(new Event('mouseenter'))"
    browser.js(f"document.querySelectorAll('.choices button').forEach({enter})")
    assert browser.js("document.querySelectorAll('.comes').length") > 0
    moves = browser.js("document.querySelectorAll('.moves li').length")
    browser.click(".clickable")
    assert browser.js("document.querySelectorAll('.moves li').length") == moves + 1
    assert browser.errors == []


def test_dice_are_kept_by_clicks_on_them(browser: Browser, pages: Any) -> None:
    browser.visit(pages("yahtzee")[0])
    begin(browser, 3)
    browser.click(".ask button")
    for kept in (1, 2):
        browser.click(f".dice .die:nth-child({kept})")
        name = text_of(browser, ".choices .picked b")
        assert len(name.split()) == kept + 1
        shown = browser.js(
            "[...document.querySelectorAll('.dice [aria-pressed=true]')]"
            ".map(die => die.getAttribute('aria-label').split(' ').at(-1))"
        )
        assert name == f"keep {' '.join(sorted(shown))}"
    assert browser.shut_out() == []
    browser.click(".choices .picked")
    assert "keep a die" in browser.js("document.querySelector('#rules').textContent")
    assert "keep" in text_of(browser, ".moves li:last-child")
    assert browser.errors == []


def test_a_reload_goes_on_with_the_game(browser: Browser, pages: Any) -> None:
    browser.visit(pages("pig")[0])
    with browser.remembering_games():
        begin(browser, 5)
        for _ in range(3):
            browser.click(".ask button")
        before = [text_of(browser, place) for place in (".words", ".moves", ".plates")]
        browser.reload()
        assert [text_of(browser, place) for place in (".words", ".moves", ".plates")] == before
        play_on(browser)
        browser.reload()
        assert heading(browser) == "The game is over"
        browser.press("ArrowLeft")
        assert re.fullmatch(r"Move (\d+) of \1", heading(browser))
        browser.press("n")
        browser.click("[value='policy hold-at-20']")
        browser.click(".start")
        browser.reload()
        browser.press("n")
        browser.click(".start")
        assert "hold-at-20" in text_of(browser, ".plates")
        unknown = "localStorage.setItem(key, game.replaceAll('hold-at-20', 'gone'))"
        browser.js(f"for (const [key, game] of Object.entries(localStorage)) {unknown}")
        browser.reload()  # a page without this opponent
        assert heading(browser) == "New game"
        assert browser.errors == []


def test_a_position_has_an_address(browser: Browser, pages: Any) -> None:
    """A link in the mailed file opens it, and Back leads to the position before."""
    place, solution = pages("pig")
    browser.visit(place, "#2,5,4")
    assert text_of(browser, ".stage .words") == "2 in the bank and 4 at risk; the opponent has 5"
    (state,) = [s for s in solution.graph.view if s.fields == (2, 5, 4)]
    found = browser.js(
        "[...document.querySelectorAll('.advice tbody tr')]"
        ".map(row => [...row.children].map(cell => cell.textContent))"
    )
    assert found == expected_rows(solution, Figures.of(solution), state)
    browser.js("document.querySelector('#coach details').open = true")
    browser.wait("document.querySelector('#coach details a')")
    browser.click("#coach tr:nth-child(2) a")
    browser.wait("location.hash !== '#2,5,4'")
    browser.js("history.back()")
    browser.wait("location.hash === '#2,5,4'")
    browser.wait("document.querySelector('.stage .words').textContent.startsWith('2 in the bank')")
    assert browser.errors == []


def test_enter_takes_a_mistake_back(browser: Browser, pages: Any) -> None:
    browser.visit(pages("pig")[0])
    browser.js("document.querySelector('.setup details').open = true")
    browser.js("[...document.querySelectorAll('.setup select')].find(one => one.value === 'ask')"
               ".value = 'mistakes'")  # fmt: skip
    browser.js("document.querySelector('input[type=number]').value = 2")  # no 1 is rolled
    browser.click(".start")
    browser.click(".ask button")
    browser.press("2")  # hold 2 to 6 points
    assert "costs" in text_of(browser, ".bottom .warning")
    browser.press("Enter")
    assert browser.js("document.querySelector('.bottom .warning')") is None
    assert heading(browser) == "Your move"
    assert browser.js("document.querySelectorAll('.moves li').length") == 1


def play_on(browser: Browser, choice: str = ".ask button") -> None:
    """Take this choice again and again, until the game is over."""
    for _ in range(MOST_MOVES):
        if heading(browser) == "The game is over":
            break
        browser.click(choice)


def begin(browser: Browser, seed: int) -> None:
    browser.js(f"document.querySelector('input[type=number]').value = {seed}")
    browser.click(".start")


def advised(browser: Browser) -> list[list[str]]:
    rows: list[list[str]] = browser.js(
        "[...document.querySelectorAll('.advice tbody tr')]"
        ".map(row => [...row.children].map(cell => cell.textContent))"
    )
    return rows


def test_a_drill_answers_after_the_guess(browser: Browser, pages: Any) -> None:
    """Its answer is the one of `advise`; a wrong guess comes again; a question can be shared."""
    place, solution = pages("pig")
    narrator = Narrator(solution.graph, solution.game)
    states = {narrator.position(s.index): s for s in solution.graph.view if s.is_choice}
    browser.visit(place)
    browser.click(".starts button:last-child")
    wrong = set()
    for _ in range(12):
        browser.wait("document.querySelector('.choices')")
        words = text_of(browser, ".words")
        assert advised(browser) == []
        assert "%" not in text_of(browser, ".score")
        wrong.discard(words)
        browser.click(".choices button")
        rows = advised(browser)
        assert rows == expected_rows(solution, Figures.of(solution), states[words])
        if "Better" in text_of(browser, ".bottom .warning"):
            wrong.add(words)
            assert "roll" not in rows[0][0]
        browser.click(".ask > button")
    assert not wrong
    browser.wait("document.querySelector('.choices')")
    words = text_of(browser, ".words")
    browser.click(".ask .tools button")
    text = str(browser.js("document.querySelector('dialog textarea').value"))
    assert words in text
    assert "roll / hold" in text
    browser.visit(place, "#" + text.split("#")[1])
    assert text_of(browser, ".words") == words
    assert advised(browser) == []
    assert browser.errors == []


def test_the_board_is_an_editor(browser: Browser, pages: Any) -> None:
    """By a tap, a key, a drag, and a typed number; the address and the advice follow."""
    place, solution = pages("shut-the-box")
    browser.visit(place, "#30,2;4")
    browser.click(".edited [role=button]:nth-child(2)")
    browser.wait("location.hash.startsWith('#26,')")
    browser.press("Enter")  # the focus stays on the cell
    browser.wait("location.hash.startsWith('#30,')")
    (state,) = [s for s in solution.graph.view if s.fields == (30, 2) and s.throw == (4,)]
    assert advised(browser) == expected_rows(solution, Figures.of(solution), state)
    browser.visit(pages("royal-ur")[0], "#4,2,0,0;2")
    assert text_of(browser, ".words") == "on 2; the opponent: on 1"
    browser.drag(OWN_PIECE, NINTH_SQUARE)
    browser.wait("!location.hash.startsWith('#4,2,')")
    assert text_of(browser, ".words") == "on 9; the opponent: on 1"
    browser.visit(pages("pig")[0], "#2,5,4")
    browser.js(
        "(one => { one.value = 7; one.dispatchEvent(new Event('change')); })"
        "([...document.querySelectorAll('.ask input')].at(-1))"
    )
    browser.wait("location.hash === '#2,5,7'")
    assert browser.shut_out() == []
    assert browser.errors == []


def test_cards_and_maps_have_room_and_names_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    """Cards wrap, a map of one row is high; a number has its unit, parts of a tuple their place."""
    browser.screen(360, 640)
    words = {
        rollwise.Duel(Threes(dice=2)): "take two",
        GamblersProblem(capital=9, goal=20): "5 coins",
        Pig(target=8, players=3): "rivals 2",
    }
    for game, text in words.items():
        rollwise.solve(game).page(tmp_path / "page.html")
        browser.visit(tmp_path / "page.html")
        cards = "[...document.querySelectorAll('.card')]"
        assert browser.js(f"{cards}.every(one => one.scrollWidth <= one.clientWidth)")
        browser.click("#tab-strategy")
        browser.wait("document.querySelector('.map canvas').clientHeight > 40")
        assert text in text_of(browser, ".strategy")
    browser.screen(1280, 800)
    assert browser.errors == []


def test_the_choices_lie_above_the_fold_on_a_phone_on_its_side(
    browser: Browser, pages: Any
) -> None:
    browser.screen(800, 360)
    browser.visit(pages("super-six")[0])
    begin(browser, 2)
    low, tabs = browser.js(
        "['.ask button', '[role=tablist]'].map((one) =>"
        " document.querySelector(one).getBoundingClientRect())"
        ".map((box, k) => k ? box.top : box.bottom)"
    )
    assert low < tabs
    browser.screen(1280, 800)


def test_the_axes_of_the_map_have_the_words_of_enumerations(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "lights.py").write_text(RULES)
    rollwise.solve(find(str(tmp_path / "lights.py"))()).page(tmp_path / "page.html")
    browser.visit(tmp_path / "page.html")
    browser.js(
        "window.drawn = []; const pen = CanvasRenderingContext2D.prototype;"
        "const plain = pen.fillText; pen.fillText = function(text, ...place) {"
        " drawn.push(text); plain.call(this, text, ...place); }; 0"
    )
    browser.click("#tab-strategy")
    browser.wait("drawn.includes('green') && drawn.includes('dark_blue')")
    assert browser.errors == []


def test_the_accessibility_tree_has_the_game(browser: Browser, pages: Any) -> None:
    """Board, dice, choices and outcome, by their names."""
    browser.visit(pages("pig")[0])
    begin(browser, 2)
    browser.click(".ask button")
    heard = browser.heard()
    words = text_of(browser, ".words")
    assert ("image", words) in heard
    assert any(role == "image" and name.startswith("a die shows") for role, name in heard)
    assert any(role == "button" and name.startswith("roll") for role, name in heard)
    play_on(browser)
    assert any("win" in name for role, name in browser.heard() if role == "StaticText")


def text_of(browser: Browser, place: str) -> str:
    return str(browser.js(f"document.querySelector({json.dumps(place)}).textContent"))
