"""Play in words: what is told is what happened, in one way wherever it is told.

`tests/told_games.txt` holds a told game of each shape. Make it anew, after a change that is meant,
with `python tests/test_narration.py`, and read it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from cli_runner import output
from hypothesis import given, settings
from hypothesis import strategies as st
from little_games import Ladder
from play_games import Capture

from rollwise import AGAIN, END, Chase, Game, build, check
from rollwise.answer.references import Policies
from rollwise.coach import Session, Table
from rollwise.derive.contest import Duel
from rollwise.games import available, find
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Pig, Piglet, TwoDicePig
from rollwise.games.threes import Threes
from rollwise.simulate import tell
from rollwise.words import Narrator
from rollwise.words.narration import conjugated

HERE = Path(__file__).parent
TOLD = HERE / "told_games.txt"
EXAMPLES = HERE.parent / "examples"
GAMES = [
    "craps --policy random --seed 3",
    "dice-blackjack --policy optimal --against all-dice --seed 4",
    "hare-and-tortoise steps=20 --policy optimal --seed 1",
    "pig target=20 --policy hold-at-20 --seed 2",
    "piglet target=5 --policy hold-at-2 --seed 1",
    "super-six sticks=6 --policy optimal --seed 1",
    "threes --policy optimal --seed 8",
    "threes dice=3 --policy optimal --chase --target 4 --seed 1",
    "threes dice=3 --policy optimal --contest --seed 3",
    "two-dice-pig target=30 --policy hold-at-20 --seed 2",
    "farkle target=200 last_lick=true --policy stop-at-300 --seed 2",
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
    "yahtzee boxes=3 --policy most-alike --seed 1",
    "yatzy boxes=2 --policy optimal --seed 1",
    "chicago --policy aces --seed 3",
    "knock-out distinct=true --policy optimal --seed 4",
    "left-center-right --policy random --seed 3",
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
    for command in GAMES:
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
    for part in told.split("$ ")[1:-3]:  # the last three have no words
        assert "→" not in part
        assert " plays " not in part


def moves_of(game: Game, seed: int):
    policies = Policies.of(game)
    return policies, tell(policies, "random", seed=seed)


# ---- a referee who hears only what is told

LINE = re.compile(r"([AB]) (?:throws|rolls) ([\d, and]+)")
TOTALS = re.compile(r": (\d+) to (\d+)")


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_totals_of_dice_blackjack_are_those_of_the_dice(seed):
    game = DiceBlackjack()
    totals = {"A": 0, "B": 0}
    mover = "A"
    _, moves = moves_of(game, seed)
    for move in moves:
        who, thrown = LINE.match(move.text).groups()
        assert who == mover
        other = "B" if who == "A" else "A"
        totals[who] += sum(map(int, re.findall(r"\d+", thrown)))
        shown = tuple(map(int, TOTALS.search(move.text).groups()))
        assert shown == (totals[who], totals[other])
        assert (totals[who] >= game.low) == move.text.endswith(("wins", "loses"))
        assert move.text.endswith(f"{who} wins") == (game.low <= totals[who] <= game.high)
        mover = other


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2]))
@settings(deadline=None)
def test_totals_of_pig_are_those_of_the_dice(seed, dice):
    """By the rules in the sources, with one die and with two."""
    game = Pig(target=25) if dice == 1 else TwoDicePig(target=25)
    bank, at_risk, mover, over = {"A": 0, "B": 0}, 0, "A", False
    _, moves = moves_of(game, seed)
    for move in moves:
        assert not over
        assert move.text.startswith(f"{mover} ")
        other = "B" if mover == "A" else "A"
        if "holds" in move.text:
            bank[mover], at_risk = bank[mover] + at_risk, 0
        else:
            faces = [int(n) for n in re.findall(r"\d+", LINE.match(move.text)[2])]
            assert len(faces) == dice
            at_risk += sum(faces)
            if 1 in faces:
                at_risk = 0
                bank[mover] *= faces != [1, 1]
            elif bank[mover] + at_risk < game.target:
                total = f", {bank[mover] + at_risk} with the bank" if bank[mover] else ""
                assert move.text.endswith(f": {at_risk} at risk{total}")
                continue
            else:
                bank[mover] += at_risk
        assert f"{bank[mover]} to {bank[other]}" in move.text
        over = bank[mover] >= game.target
        assert move.text.endswith(f"{mover} wins") == over
        mover = other
    assert over


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_scores_of_threes_are_those_of_the_dice(seed):
    _, moves = moves_of(Threes(dice=4), seed)
    score, shown, left = 0, [], 4
    for move in moves:
        faces = [int(n) for n in re.findall(r"\d+", move.text.partition(":")[0])]
        if " rolls " in move.text:
            assert len(faces) == left
            shown = faces
        else:
            for face in faces:
                shown.remove(face)
            left -= len(faces)
            points = sum(face for face in faces if face != 3)
            score += points
            if faces:
                assert f": {points} point{'' if points == 1 else 's'}" in move.text
            if points and left:
                assert move.text.endswith(f"{score} so far")
    assert left == 0
    assert moves[-1].text.endswith(f"{score} in all")
    assert score == sum(move.reward for move in moves)


# ---- faces


@pytest.mark.parametrize("game", SHAPES, ids=lambda game: game.name)
def test_faces_bring_the_outcome_that_they_are_told_with(game):
    narrator, random = Narrator(build(game), game), np.random.default_rng(1)
    view = narrator.graph.view
    for a in range(0, narrator.graph.n_actions, max(1, narrator.graph.n_actions // 40)):
        for number in range(len(view.action(a).outcome_range)):
            faces = narrator.faces_of(a, number, random)
            assert len(faces) == len(narrator.dice(a))
            if faces:
                found = view.action(a).outcome(narrator.fall_of(a, faces))
                wanted = view.action(a).outcome(number)
                assert (found.target, found.ending) == (wanted.target, wanted.ending)


def test_faces_are_drawn_fairly_from_the_throws_that_bring_the_outcome():
    game = DiceBlackjack()
    graph = build(game)
    narrator, random = Narrator(graph, game), np.random.default_rng(5)
    two = graph.view.find((0, 0)).find_action(2)
    throws = [faces for faces in product(range(1, 7), repeat=2) if sum(faces) == 7]
    number = narrator.fall_of(two.index, throws[0])
    n = 600
    counts = Counter(narrator.faces_of(two.index, number, random) for _ in range(n))
    assert set(counts) == set(throws)
    share = Fraction(1, len(throws))
    spread = float(n * share * (1 - share)) ** 0.5
    assert all(abs(count - n * share) < 5 * spread for count in counts.values())


def test_faces_that_are_not_known_are_counted():
    table = Table.lay(DiceBlackjack())
    one, two = table.actions(0)
    assert table.narrator.sentence("A", two, 5) == "A throws 2 dice: 7 to 0"
    assert table.narrator.sentence("you", one, 5) == "you throw 1 die: 6 to 0"


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


def test_environments_tell_the_same_and_draw_the_same_with_and_without_words():
    pytest.importorskip("gymnasium")
    from rollwise.environments import GameEnv

    shown = []
    told = GameEnv("pig", target=20, opponent="hold-at-20", render_mode="ansi")
    silent = GameEnv("pig", target=20, opponent="hold-at-20")
    for env in (told, silent):
        seen, _ = env.reset(seed=4)
        random = np.random.default_rng(4)
        steps = [seen.tolist()]
        over = False
        while not over:
            legal = np.flatnonzero(env.action_masks())
            seen, reward, over, _, _ = env.step(int(random.choice(legal)))
            steps.append((seen.tolist(), reward, over))
            if env is told:
                shown += told.render().splitlines()
        if env is told:
            first = steps
    assert steps == first
    assert silent.render() is None
    kinds = [
        r"agent (rolls \d|holds): .*",
        r"opponent (rolls \d|holds): .*",
        r"agent to move: \d+ in the bank and \d+ at risk; the other has \d+",
        "game over",
    ]
    for line in shown:
        assert any(re.fullmatch(kind, line) for kind in kinds), line
    assert "banked=" not in "".join(shown)
    assert shown[-1] == "game over"
    assert shown[-2].endswith("wins")


def test_both_agents_are_told():
    pytest.importorskip("pettingzoo")
    from rollwise.environments.aec import GameAECEnv

    env = GameAECEnv("threes", contest="shared", dice=2, render_mode="ansi")
    env.reset(seed=1)
    lines = [env.render()]
    while not any(env.terminations.values()):
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(np.flatnonzero(mask)[-1]))
        lines += env.render().splitlines()
    assert re.match("player_0 to move: 2 dice to roll; 0 points so far", lines[0])
    assert any(
        re.match(r"player_0 takes \d and \d: \d+ points?; \d+ in all", line) for line in lines
    )
    assert re.search(r"player_1 (wins|loses)|a draw", lines[-2])
    assert lines[-1] == "game over"


# ---- the command


def test_a_game_with_a_seed_is_the_one_it_always_was():
    """The faces are drawn apart, so that telling them changes no game."""
    moves = tell(Pig(target=20), "hold-at-20", seed=4)
    bare = tell(build(Pig(target=20)), Policies.of(Pig(target=20)).find("hold-at-20"), seed=4)
    assert [(m.state, m.action, m.next_state) for m in moves] == [
        (m.state, m.action, m.next_state) for m in bare
    ]
    assert bare[0].dice == ()
    assert bare[0].text.startswith("A plays roll: turn 0 → ")


def test_several_games_are_told_and_each_can_be_told_alone():
    asked = ("simulate", "dice-blackjack", "--policy", "optimal", "--seed", "5", "--json", "--tell")
    three = json.loads(output(*asked, "3"))
    assert [play["seed"] for play in three["plays"]] == [5, 6, 7]
    alone = json.loads(output(*asked))
    assert alone["plays"] == three["plays"][:1]
    assert alone["moves"] == three["moves"] == three["plays"][0]["moves"]
    assert alone["moves"][0]["text"].startswith("A throws ")
    assert all(1 <= face <= 6 for move in alone["moves"] for face in move["dice"])
    text = output(*(word for word in asked if word != "--json"), "3")
    assert text.count("dice-blackjack sides=6") == 3
    assert "seed 6: A plays optimal, B plays optimal\n  A throws " in text


# ---- words


@pytest.mark.parametrize(
    ("deed", "told"),
    [
        ("throw", "throws"),
        ("pass the die", "passes the die"),
        ("go steady", "goes steady"),
        ("dash, throwing 5", "dashes, throwing 5"),
        ("carry 2", "carries 2"),
        ("play two dice", "plays two dice"),
        ("stay", "stays"),
        ("have a rest", "has a rest"),
    ],
)
def test_verbs_go_with_the_player(deed, told):
    assert conjugated(deed, "A") == told
    assert conjugated(deed, "you") == deed


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


def test_faces_with_wrong_names_are_findings():
    game = type("Coin", (Piglet,), {"face_name": lambda self, face: face})(target=3)
    (finding,) = [found for found in check(game).findings if found.topic == "words"]
    assert "face_name() gives 1; it is a text" in finding.text


def test_a_sheet_may_leave_the_faces_out():
    """As it was written before version 0.2."""

    def told(self, s, action, then, after):
        return f"then {then}, at {after.height}"

    game = type("Old", (Plain,), {"told": told, "deed": lambda self, s, action: "climb"})()
    texts = [move.text for move in tell(game, "random", seed=5)]
    assert texts[0].startswith(f"A climbs: then {AGAIN}, at 0")
    assert f"then {END}" in texts[-1]


def test_a_graph_without_rules_is_told_by_its_names():
    graph = build(Pig(target=10))
    narrator = Narrator(graph)
    hold = graph.view.find((3, 4, 5)).find_action("hold")
    assert narrator.sentence("A", hold.index, 0) == "A plays hold: banked 3 → 8, turn 5 → 0"
    assert narrator.position(hold.state.index) == "banked=3, rival=4, turn=5"
    assert narrator.dice(hold.index) == ()


if __name__ == "__main__":
    TOLD.write_text(told_games(), encoding="utf-8")
