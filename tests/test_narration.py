"""Play in words: what is told is what happened, in one way wherever it is told.

`tests/told_games.txt` holds a told game of each shape. Make it anew, after a change that is meant,
with `python tests/test_narration.py`, and read it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from cli_runner import output
from little_games import Faces, Ladder, Lamplighters, MarkedBoard, PassAChip, TurnedBoard
from passing_games import (
    BeatTheGoal,
    BestOfThree,
    BestThrow,
    CoinToss,
    Counters,
    FillHomes,
    HelpYourNeighbour,
    Hits,
    Holders,
    LeadPig,
    ScoresBySeat,
    SharedPot,
    ShutTiles,
    TakeTurnsAttacking,
)
from play_games import Capture
from throwing import Runners

from rollwise import PASS, WIN, Chase, Game, check, solve
from rollwise.answer.references import Policies
from rollwise.coach import Session, Table
from rollwise.derive.contest import Duel
from rollwise.errors import RulesError
from rollwise.games import available, find
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Pig, Piglet, TwoDicePig
from rollwise.games.threes import Threes
from rollwise.graph.typed import spread
from rollwise.simulate import tell
from rollwise.then import is_over
from rollwise.words import Narrator
from rollwise.words.narration import changes
from rollwise.words.next_view import as_next_sees

HERE = Path(__file__).parent
TOLD = HERE / "told_games.txt"
EXAMPLES = HERE.parent / "examples"
GAMES = [
    "craps --policy random --seed 3",
    "first-orchard --policy optimal --seed 1",
    "red-light target=10 --policy hold-when-a-draw-costs --seed 1",
    "risk --policy three-dice --seed 1",
    "einstein --policy capture-or-run --seed 2",
    "zilch most=400 --policy stop-at-300 --seed 2",
    "big-wheel --policy stay-at-70 --seed 1",
    "drop-dead --policy random --seed 1",
    "chasing-game half=4 --policy random --seed 1",
    "frozen-lake --policy straight --seed 1",
    "gamblers-problem capital=20 --policy bold --seed 2",
    "pickomino dice=6 --policy most-points --seed 1",
    "knucklebones rows=1 --policy greedy --seed 1",
    "2048 --policy corner --seed 1",
    "dice-blackjack --policy optimal --against all-dice --seed 4",
    "hare-and-tortoise steps=20 --policy optimal --seed 1",
    "pig target=20 --policy hold-at-20 --seed 2",
    "piglet target=5 --policy hold-at-2 --seed 1",
    "super-six sticks=6 --policy optimal --seed 1",
    "threes --policy optimal --seed 8",
    "threes dice=3 --policy optimal as=chase target=4 --seed 1",
    "threes dice=3 --policy optimal as=contest --seed 3",
    "two-dice-pig target=30 --policy hold-at-20 --seed 2",
    "farkle target=100 last_lick=true --policy stop-at-300 --seed 2",
    "farkle-turn most=400 --policy stop-at-300 --seed 3",
    "hog target=40 --policy five-dice --seed 1",
    "cant-stop-for-two --policy until-three-runners --seed 4",
    "ludo track=6 --policy capture-or-run --seed 5",
    "ship-captain-crew --policy keep-four --seed 4",
    "pass-the-pigs target=40 --policy hold-at-23 --seed 2",
    "bear-off checkers=2 --policy most-off --seed 3",
    "two-sided-bear-off checkers=1 --policy optimal --against most-off --seed 2",
    "hypergammon checkers=1 --policy optimal --seed 5",
    "royal-ur pieces=1 --policy optimal --seed 2",
    "shut-the-box --policy highest --seed 1",
    "snakes-and-ladders board=milton-bradley --policy optimal --seed 1",
    "zombie-dice goal=3 --policy optimal --seed 3",
    "cant-stop --policy until-three-runners --seed 2",
    "bozo sheet=three --policy optimal --seed 1",
    "yahtzee boxes=2 --policy most-alike --seed 1",
    "yatzy boxes=2 --policy optimal --seed 1",
    "chicago --policy aces --seed 3",
    "knock-out distinct=true --policy optimal --seed 4",
    "left-center-right --policy random --seed 3",
]
WITHOUT_WORDS = [
    f"{EXAMPLES / 'hit_the_mark.py'}:HitTheMark --policy optimal --seed 1",
    f"{HERE / 'play_games.py'}:Capture --policy random --seed 2",
    f"{HERE / 'little_games.py'}:Ladder --policy random --seed 5",
]
SHAPES: list[Game] = [
    DiceBlackjack(),
    DiceBlackjack(sides=4, low=20, high=23, dice=3),
    Pig(target=20),
    Pig(target=12, must_bank=True),
    Piglet(target=4),
    TwoDicePig(target=15),
    Threes(dice=3),
    Duel(Threes(dice=2)),
    Chase(Threes(dice=2), 3),
    Capture(),
    Ladder(),
    find("super-six")(sticks=6),
    find("hare-and-tortoise")(steps=12),
    find("craps")(),
]


def told_games() -> str:
    """All games as they are told, each under its command."""
    parts = []
    for command in GAMES + WITHOUT_WORDS:
        shown = output("simulate", *command.split(), "--tell")
        name = re.sub(r"\S*/", "", command)
        parts.append(f"$ {name}\n" + shown.partition("\n")[2])
    return "\n".join(parts)


@pytest.mark.needs_jit  # compiled or not, the same; but solving needs a while without
def test_games_of_every_shape_read_well():
    assert told_games() == TOLD.read_text(encoding="utf-8")


def test_every_game_has_words_and_is_told():
    told = TOLD.read_text(encoding="utf-8")
    for name, cls in available().items():
        assert f"$ {name} " in told
        assert cls.deed is not Game.deed
        assert cls.told is not Game.told
    wordless = [name.rpartition("/")[2].split()[0] for name in WITHOUT_WORDS]
    for part in told.split("$ ")[1:]:
        if part.startswith(tuple(wordless)):
            continue
        assert "→" not in part
        assert " plays " not in part
        assert not re.search(r"\b1 ([a-z]+s|dice)\b", part)  # one thing has no plural


def moves_of(game: Game, seed: int):
    policies = Policies.of(game)
    return policies, tell(policies, "random", seed=seed)


# ---- one narration


@pytest.mark.parametrize("game", SHAPES, ids=lambda game: game.name)
@pytest.mark.parametrize("seed", [1, 2])
def test_play_and_simulation_tell_the_same(game, seed):
    policies, moves = moves_of(game, seed)
    session = Session(Table(policies.solution, game), ["A", "B"][: policies.graph.players],
                      [None] * policies.graph.players, seed=1)  # fmt: skip
    for move in moves:
        here = session.table.graph.view[session.state]
        action = here.find_action(move.action).index
        session.choose(action)
        if move.dice:
            entry = session.throw(move.dice)
        else:
            entry = next(
                session.fall(outcome.number)
                for outcome in session.table.graph.view.action(action).outcomes
                if _leads(outcome, move)
            )
        assert session.told(entry) == move.text
    assert session.is_over


def _leads(outcome, move) -> bool:
    then = outcome.ending or ("pass" if outcome.passes else "again")
    after = outcome.next_state
    return (then, None if after is None else after.named) == (move.outcome, move.next_state)


# ---- words


class Plain(Ladder):
    """As `Ladder`, with the words that a test gives it."""


@pytest.mark.parametrize(
    ("word", "answer", "said"),
    [
        ("deed", lambda *_: 3, r"deed\(\) gives 3; it is a text"),
        ("deed", lambda *_: 1 / 0, r"deed\(\) fails: ZeroDivisionError"),
        ("told", lambda s, a, then, after, faces=(): {}[faces], r"told\(\) fails: KeyError"),
    ],
)
def test_faults_of_the_words_are_findings(word, answer, said):
    game = type("Plain", (Plain,), {word: lambda self, *given: answer(*given)})()
    (finding,) = [found for found in check(game).findings if found.topic == "words"]
    assert finding.level == "error"
    assert re.search(said, finding.text)


def test_dice_that_are_not_thrown_are_not_told():
    assert Runners().throw_text(None, (3, 5)) == "3 and 5"
    assert Runners().throw_text(None, (3, 0)) == "3"
    assert Runners().throw_text(None, (0, 3)) == "0 and 3"  # faces of dice of one's own
    assert Runners().throw_text(None, (0, 0)) == "0 and 0"


class Wordy(Ladder):
    """As `Ladder`, with words that lack parameters."""

    def told(self, s, action):
        return "climbed"


class Boardless(Ladder):
    """As `Ladder`, with a board that isn't rows of cells."""

    def cells(self, s):
        return [s.height]


class Undescribed(Ladder):
    """As `Ladder`, with a description of no position."""

    def describe(self):
        return "a ladder"


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (
            Wordy(),
            "told(self, s, action) doesn't take its arguments; write "
            "def told(self, s, action, then, after)",
        ),
        (
            Undescribed(),
            "describe(self) doesn't take its arguments; write def describe(self, s)",
        ),
        (Boardless(), "cells() gives 0; it is rows of cells"),
    ],
    ids=lambda value: value.name if isinstance(value, Game) else "",
)
def test_words_with_other_parameters_are_told(game, said):
    """`check` tells them, and so does play."""
    (finding,) = [found for found in check(game).findings if found.topic == "words"]
    assert said in finding.text
    graph = solve(game).graph
    narrator = Narrator(graph, game)
    asked = {"told": narrator.told, "describe": narrator.position, "cells": narrator.board}
    word = said.partition("(")[0]
    with pytest.raises(RulesError) as caught:
        asked[word](*(0, 0)[: 1 + (word == "told")])
    assert said in str(caught.value)


def test_one_point_so_far_is_a_point():
    for game in (Duel(Threes()), Threes().with_score()):
        state = game.start()._replace(score=1)
        assert "; 1 point so far" in game.describe(state)


@pytest.mark.parametrize("name", ["pig", "royal-ur", "dice-blackjack", "yahtzee"])
def test_final_positions_are_those_of_the_rules(name):
    """As the rules write them in the view of the last player, and nowhere else."""
    small = {"pig": {"target": 6}, "royal-ur": {"pieces": 1}, "yahtzee": {"boxes": 1}}
    game = find(name)(**small.get(name, {}))
    solution = solve(game)
    graph = solution.space.flat if solution.graph.has_pool else solution.graph
    narrator = Narrator(graph, game)
    n_ends = 0
    for action in [one for state in graph.view for one in state.actions if state.asks_rules]:
        if action.keeps or action.is_throw:
            assert set(narrator.finals(action.index)) == {None}
            continue
        rules = game.outcomes(*narrator._at(action.index), action.label)
        ends = [tuple(spread(after)) if is_over(then) else None for _, then, after in rules]
        told = [end and end[: len(ends[k])] for k, end in enumerate(narrator.finals(action.index))]
        assert told == ends
        n_ends += sum(end is not None for end in ends)
    assert n_ends


class Heights(NamedTuple):
    mine: int
    theirs: int
    last: int


class Climbers(Game):
    """Three climb by the toss of a coin, up to 4. The next player sees every position."""

    players = 3

    def start(self):
        return Heights(0, 0, 0)

    def actions(self, s):
        return (0,)

    def outcomes(self, s, action):
        after = Heights(s.theirs, s.last, s.mine + 1)
        yield 1, WIN if after.last == 4 else PASS, after
        yield 1, PASS, Heights(s.theirs, s.last, s.mine)


def test_a_final_position_may_be_written_as_the_next_player_sees_it():
    game = find(str(Path(__file__).parents[1] / "examples" / "thieves.py"))()
    graph = solve(game).graph
    for mine, theirs in ((8, 8), (9, 2), (7, 9)):
        action = graph.view[graph.find((mine, theirs))].find_action(3)
        wins = [end for end in Narrator(graph, game).finals(action.index) if end]
        assert wins == [(mine + 3, theirs)]
    graph = solve(Climbers()).graph  # of three players
    (climb,) = graph.view[graph.find((3, 1, 2))].actions
    assert Narrator(graph, Climbers()).finals(climb.index)[0] == (4, 1, 2)


def test_a_final_position_in_which_all_numbers_change_is_that_of_the_last_player():
    """The rules of `CoinToss` write it as the next player sees it."""
    graph = solve(CoinToss()).graph
    (toss,) = graph.view[graph.find((5, 1))].actions
    assert (6, 0) in Narrator(graph, CoinToss()).finals(toss.index)
    (toss,) = graph.view[graph.find((1, 5))].actions
    assert (0, 6) in Narrator(graph, CoinToss()).finals(toss.index)


def test_a_throw_among_the_fields_is_no_change():
    """Derived games have the throw in the position; a move changes the others."""
    graph = solve(Runners(2).within(3)).graph
    for state in graph.view:
        for action in state.actions:
            for outcome in action.outcomes:
                if not outcome.is_over and not action.is_throw:
                    seen = as_next_sees(graph) if outcome.passes else None
                    assert "throw" not in changes(graph, state.index, outcome.target, seen)


def test_the_parts_of_a_tuple_count_from_one():
    graph = solve(Runners(2)).graph
    first = next(s for s in graph.view if [a.name for a in s.actions] == ["back", "front"])
    told = changes(graph, first.index, first.actions[1].outcomes[0].target, as_next_sees(graph))
    assert told.startswith("mine 2: 0 → "), told


def test_the_next_of_several_players_is_named():
    game = find(f"{EXAMPLES}/who_stops.py:WhoStops")()
    graph = solve(game).graph
    (wait,) = [action for action in graph.view[0].actions if action.name == "wait"]
    names = ["Ann", "Bob", "Cy"]
    texts = [Narrator(graph, game).sentence("Ann", int(wait), k, names=names) for k in (0, 1)]
    assert texts[0].endswith("the turn passes to Bob")
    assert "passes" not in texts[1]


def test_the_numbers_of_several_players_go_round_the_table():
    game = Lamplighters()
    graph = solve(game).graph
    lit, next_lit, last_lit = range(3)
    assert as_next_sees(graph)[:4] == (last_lit, lit, next_lit, 3)
    after_throw = next(s for s in graph.view if s.throw == (2,) and s.fields[:4] == (0, 1, 1, 6))
    names = ["Ann", "Bob", "Cy"]
    told = [
        Narrator(graph, game).sentence("Ann", action.index, 0, names=names)
        for action in after_throw.actions
    ]
    assert told == [
        "Ann plays light: lit 0 → 2, turns left 6 → 5; the turn passes to Bob",
        "Ann plays blow: next lit 1 → 0, turns left 6 → 5; the turn passes to Bob",
    ]


@pytest.mark.parametrize("game", [MarkedBoard(), TurnedBoard()], ids=["in place", "turned"])
def test_a_board_whose_marks_change_sides_is_no_field_of_the_mover(game):
    """No cell is told as another one, and no mark of the mover as one of the opponent."""
    graph = solve(game).graph
    assert as_next_sees(graph) == (-1,) * 6
    narrator = Narrator(graph, game)
    told = {narrator.outcome_text(int(a), 0) for s in graph.view for a in s.actions}
    assert told == {"the turn passes", "wins", "a draw"}


@pytest.mark.parametrize(
    ("game", "seen"),
    [
        # in place: a goal after the turn of the first player, or counters of all
        (BeatTheGoal(), (0, 1)),
        (ShutTiles(), (0, 1)),
        (Counters(), (0, 1)),
        # round the table
        (HelpYourNeighbour(), (2, 0, 1, -1)),
        (HelpYourNeighbour(chips=4), (2, 0, 1, -1)),
        (BestThrow(), (2, 0, 1, 3)),
        (BestThrow(players=4), (3, 0, 1, 2, 4)),
        (BestThrow(players=2), (1, 0, 2)),  # one pass a game
        (PassAChip(), (2, 0, 1, 5, 3, 4)),
        (FillHomes(), (4, 5, 0, 1, 2, 3)),
        (Holders(), (0, -1, 1)),
        # exchanged, beside fields in place
        (CoinToss(), (1, 0)),
        (SharedPot(), (1, 0, 2)),
        (TakeTurnsAttacking(), (-1, 1, 3, 2)),
        (BestOfThree(), (0, 1, 3, 2)),
        (Faces(), (1, 0, 2, 3, 4)),
        (Hits(), (7, 6, 5, 4, 3, 2, 1, 0)),
        # written anew
        (ScoresBySeat(), (-1, 1, 2)),
        (ScoresBySeat(players=3), (-1, 1, 2, 3)),
        (LeadPig(), (-1, 1)),
    ],
    ids=str,
)
def test_the_numbers_carried_over_tell_what_the_next_player_sees(game, seen):
    assert as_next_sees(solve(game).graph) == seen


@pytest.mark.parametrize(
    ("game", "fields", "chosen", "told"),
    [
        (BeatTheGoal(), (5, 0), "hold", "points 5 → 0, goal 0 → 6"),
        (HelpYourNeighbour(), (2, 2, 2, 0), "throw", "chips 1: 2 → 1"),
        (BestThrow(), (0, 0, 3, 1), "stop", "scores 1: 0 → 1, used 1 → 0"),
        (ShutTiles(), (0b1111, 0), "1", "tiles {0 1 2 3} → {1 2 3}"),
    ],
    ids=lambda value: value.name if isinstance(value, Game) else "",
)
def test_a_number_is_told_of_its_player(game, fields, chosen, told):
    graph = solve(game).graph
    action = next(
        action
        for state in graph.view
        if state.fields[: len(fields)] == fields
        for action in state.actions
        if action.name == chosen
    )
    sentence = Narrator(graph, game).sentence("Ann", action.index, 0)
    assert sentence == f"Ann plays {chosen}: {told}"


def test_the_parts_of_a_tuple_change_places_together():
    """With one checker a point is mostly empty, and so are all others."""
    graph = solve(find("two-sided-bear-off")(checkers=1)).graph
    assert as_next_sees(graph) == (*range(6, 12), *range(6))


def test_no_loss_is_told_of_an_attack_that_ends_the_battle():
    """Its next state has no meaning: the attacker lost 0, and so did the defender."""
    typed = ("risk", "attackers=3", "defenders=2", "--policy", "never-stop")
    told = output("simulate", *typed, "--tell", "--seed", "3")
    assert told.splitlines()[-1] == "  A attacks, throwing 4, 4, 1, 3 and 2: A wins 6"


if __name__ == "__main__":
    TOLD.write_text(told_games(), encoding="utf-8")
