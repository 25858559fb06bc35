"""Games that are played by typing, with everything that may be typed; and their reviews."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from statistics import mean, stdev
from unittest import mock

import numpy as np
import pytest
from cli_runner import output, play, refusal, run
from small_games import played

import rollwise
from rollwise.coach import Session, Table
from rollwise.coach.tally import tally
from rollwise.games.pig import Pig

GAMES = Path(__file__).parent / "play_games.py"
SAVED = f"{GAMES.with_name('throwing.py')}:SavedRolls"
CAPTURE, ODD, PIT = (f"{GAMES}:{name}" for name in ("Capture", "Odd", "Pit"))
PIG = ("pig", "target=20", "--seed", "5")


def moves(path: Path) -> str:
    return " ".join(line for line in path.read_text().splitlines() if line[0] != "@")


# ---- what is typed is what is done


def test_a_game_that_goes_on_for_ever_can_be_stopped(tmp_path):
    """In the pit there is nothing to choose, and no end; values there are infinite."""
    words = (PIT, "--seed", "3", "--coach", "mistakes", "--json")
    done = play(tmp_path, *words, typed="stay /  / jump /  /  / q")
    assert "it costs 1.000 points; better: walk" in done.stderr
    assert "it costs inf points; better: walk" in done.stderr
    assert done.stderr.count("Enter goes on> ") == 2
    document = json.loads(done.stdout)
    assert document["result"] is None
    assert len(document["moves"]) == 202
    assert "few are good" in output("review", PIT, "pit.game", cwd=tmp_path)


def test_a_person_keeps_a_side_of_the_board(tmp_path):
    """The players' names stand before their rows, whoever moves."""
    words = ("piglet", "--seats", "second", "--seed", "5")
    told = play(tmp_path, *words, typed="flip / hold / q").stdout
    board = r"you {5}[#ox.]+\noptimal [#ox.]+\n"
    assert re.search(board + "you: ", told)
    assert re.search(board + "optimal: ", told)
    assert not re.search(r"^opponent [#ox.]", told, re.M)


def test_the_rules_of_a_kept_game_are_asked_for_by_the_command_that_was_typed(tmp_path):
    play(tmp_path, PIT, "--save", "a.game", typed="q")
    for words in (["play", "--resume"], ["review"], ["drill"], ["exploit"]):
        right = " ".join([words[0], "rules.py:ClassName", *words[1:], "a.game"])
        assert refusal(*words, "a.game", cwd=tmp_path).endswith(f"as in rollwise {right}")


def test_choices_that_are_numbers_have_their_unit(tmp_path):
    shown = play(tmp_path, "dice-blackjack", "--seed", "4", typed="2 dice / 2 coins / q").stdout
    assert shown.count("1 die") > 1
    assert "you throw" in shown
    assert "'2 coins' can't be done here" in shown


# ---- nothing is lost


# Rich ends the program with SystemExit where the reader of its output has gone
@pytest.mark.parametrize(
    ("how", "code"),
    [(EOFError, 0), (KeyboardInterrupt, 130), (BrokenPipeError, 1), (SystemExit, 1)],
)
def test_a_kept_game_holds_every_move_however_it_ends(tmp_path, how, code):
    typed = iter(["roll", "roll"])

    def answer(*_):
        for line in typed:
            return line
        raise how

    with mock.patch("builtins.input", answer):
        done = run("play", *PIG, "--save", "a.game", cwd=tmp_path)
    assert done.returncode == code
    assert "go on with: rollwise play pig --resume a.game" in done.stderr
    assert moves(tmp_path / "a.game") == "you: roll 5, roll 3, roll 6"
    shown = play(tmp_path, "--resume", "a.game", typed="undo")
    assert "14 at risk" in shown.stdout
    assert moves(tmp_path / "a.game") == "you: roll 5, roll 3"


# ---- reviews


@pytest.fixture
def full(tmp_path):
    """A whole game of Pig to 30, with one bad choice."""
    path = tmp_path / "full.game"
    path.write_text(
        "@game pig target=30\n"
        "Ann: roll 2, hold\nBob: roll 6, roll 6, roll 6, roll 6, hold\n"
        "Ann: roll 1\nBob: roll 6\n"
    )
    return path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pig", "target=100"), "full.game, line 1: this game was played with target=30, not"),
        (("super-six",), "full.game, line 1: this is a game of pig, not of super-six"),
        ((CAPTURE,), "full.game, line 1: this is a game of pig, not of capture"),
        (("pig", "goal=3"), "pig has no parameter 'goal'"),
        (("pig", "target=x"), "target must be a whole number"),
        (("pig", "again.game"), "full.game' isn't a parameter; write name=value"),
    ],
)
def test_a_contradiction_is_one_clear_error(full, arguments, said):
    assert said in refusal("review", *arguments, str(full), cwd=full.parent)


def test_what_play_keeps_is_reviewed(tmp_path):
    """Games with parameters, of a file, and contests; whatever had been typed."""
    play(tmp_path, "pig", "target=20", "--seed", "5", typed="r / r")
    assert "target=20" in output("review", "pig.game", cwd=tmp_path)
    mixed = "0.9*optimal+0.1*random"
    play(tmp_path, *PIG, "--against", mixed, "--save", "mixed.game", typed="r / h / r")
    assert mixed in play(tmp_path, "--resume", "mixed.game", typed="hint / h").stdout
    assert f"\n{mixed}: roll" in (tmp_path / "mixed.game").read_text()
    play(tmp_path, CAPTURE, "goal=9", "--seed", "1", typed="1 / 1 / 1")
    document = json.loads(output("review", CAPTURE, "capture.game", "--json", cwd=tmp_path))
    assert document["parameters"] == {"goal": 9}
    assert [player["player"] for player in document["by_player"]] == ["you", "optimal"]
    play(tmp_path, "threes", "dice=2", "as=contest", "ties=first", typed="hint")
    kept = tmp_path / "contest-threes.game"
    document = json.loads(output("review", str(kept), "--json"))
    assert document["game"] == "threes"
    assert document["parameters"]["as"] == "contest"
    assert document["parameters"]["ties"] == "first"
    refused = refusal("review", str(kept), "as=contest", "ties=shared")
    assert "played with ties=first, not ties=shared; leave ties out" in refused
    play(tmp_path, "threes", "dice=2", "as=chase", "target=3", typed="hint")
    shown = play(tmp_path, "--resume", "chase-threes.game", typed="hint")
    assert "chance to win" in shown.stdout
    refused = refusal("review", "chase-threes.game", "as=chase", "target=4", cwd=tmp_path)
    assert "played with target=3, not target=4; leave target out" in refused
    assert "leave as=contest out" in refusal("review", "pig.game", "as=contest", cwd=tmp_path)
    changed = kept.read_text().replace("@rules ", "@rules 0")
    kept.write_text(changed)
    assert "under other rules" in refusal("review", str(kept))


# ---- games that throw first at the table: real dice, undo, records, reviews, the ledger, a series


HERE = Path(__file__).parent
RACE, BOXES = f"{HERE / 'throwing.py'}:Runners", f"{HERE / 'throwing.py'}:TwoBoxes"


# ---- real dice


def test_what_real_dice_show_is_typed_as_the_throw(tmp_path):
    words = (RACE, "--against", "human", "--dice", "by-hand")
    shown = play(tmp_path, *words, typed="3 / front / 0 / 1 / back").stdout
    assert shown.count("throw: what was thrown> ") == 4
    assert "→ player 1 throws 3" in shown
    assert "→ player 2 throws 0" in shown
    assert moves(tmp_path / "runners.game") == (
        "player 1: throw 3, front player 2: throw 0, wait player 1: throw 1, back"
    )


def test_a_throw_that_nobody_throws_is_refused_with_those_that_are(tmp_path):
    shown = play(tmp_path, BOXES, "--dice", "by-hand", typed="undo / 9 9 / 3 / x / 3, 2").stdout
    shown = " ".join(shown.split())
    assert "there is no choice yet to take back" in shown
    assert "no throw is 9 9 in the state open=(1, 1), left=2; the throws are 1 1, 1 2" in shown
    assert "no throw is 3 in the state" in shown
    assert "'x' isn't a face of a die" in shown
    assert "→ you throw 2 and 3" in shown  # in any order
    assert moves(tmp_path / "two-boxes.game") == "you: throw 2 3"


def test_kept_dice_need_not_be_typed_with_the_next_throw(tmp_path):
    typed = "1 3 / keep 3 / 4 / 2 1 / 2 / q"
    done = play(tmp_path, SAVED, "--dice", "by-hand", "--save", "a.game", typed=typed)
    shown = " ".join(done.stdout.split())
    for wrong in ("4", "2 1"):
        told = f"no throw is {wrong}, beside the kept 3, in the state number=1, saved=0; the throws"
        assert f"{told} are 1, 2, 3" in shown
    assert "→ you throw 2 and 3" in shown
    whole = play(tmp_path, SAVED, "--dice", "by-hand", typed="1 3 / keep 3 / 3 2 / q").stdout
    assert "→ you throw 2 and 3" in whole  # with the kept die, in any order
    again = play(tmp_path, SAVED, "--resume", "a.game", typed="q").stdout
    assert "thrown: 2 and 3" in again


COINS = """
from typing import NamedTuple
from rollwise import AGAIN, LOSE, WIN, Game, dice

class Coins(NamedTuple):
    heads: int

class TwoHeads(Game):
    players = 1
    def start(self):
        return Coins(0)
    def actions(self, s):
        return (0,)
    def outcomes(self, s, action):
        for ways, face in dice.one(2):
            if face == 1:
                yield ways, LOSE, s
            else:
                yield ways, WIN if s.heads else AGAIN, Coins(1)
    def throw(self, s, action):
        return (2,)
    def fallen(self, s, action, faces):
        return faces[0] - 1
    def face_name(self, face):
        return ("", "tail", "head")[face]
    def field_text(self, name, number):
        return ("none", "one")[number]
"""


def test_faces_are_typed_by_number_or_name(tmp_path):
    (tmp_path / "coins.py").write_text(COINS)
    shown = play(tmp_path, "coins.py", "--dice", "by-hand", typed="edge / 2 1 / Head / 2").stdout
    shown = " ".join(shown.split())
    assert "'edge' isn't a face of a die; type numbers, or tail or head" in shown
    assert "throws 1 die, not 2" in shown
    assert "heads none → one" in shown
    assert "you win" in shown


# ---- games of three or more at the terminal, and their books


PIG_PLAY = ("pig", "players=3", "target=9")


@pytest.fixture(scope="module")
def table():
    game = Pig(6, players=3)
    return Table(rollwise.solve(game), game)


@pytest.mark.parametrize("seed", range(5))
def test_luck_and_skill_add_up_for_every_seat(table, seed):
    session = Session(table, "ABC", ["random", "optimal", "random"], seed=seed)
    while not session.is_over:
        actions = table.actions(session.state)
        session.choose(actions[0] if len(actions) == 1 else session.machine_choice())
        session.roll()
    ledgers = [session.ledger(seat) for seat in range(3)]
    for seat, ledger in enumerate(ledgers):
        start = table.solution.equilibrium.win_probabilities[seat]
        assert ledger.start == pytest.approx(2 * start - 1, abs=1e-15)
        assert abs(ledger.discrepancy) < 1e-12
        assert ledger.skill[0] <= 1e-12  # nobody gains by leaving the equilibrium
    assert sorted(ledger.result for ledger in ledgers) == [-1, -1, 1]
    for entry in session.accounts:  # one win is shared out at every moment
        worth = np.array([entry.seen[seat] for seat in range(3)])
        assert worth.sum(axis=0) == pytest.approx(-1, abs=1e-12)
        assert entry.cost == pytest.approx(-min(entry.skill_of(entry.seat), 0), abs=1e-12)
    assert math.isclose(session.ledger(1).skill[0], 0, abs_tol=1e-12)


def test_several_people_and_policies(tmp_path):
    shown = play(
        tmp_path,
        *PIG_PLAY,
        *("--seats", "human,random,human", "--seed", "3", "--coach", "always", "--save", "a.game"),
        typed="r / h / r / h / " * 30 + "quit",
    )
    assert shown.returncode == 0, shown.stderr
    assert "player 1> " in shown.stdout
    assert "player 3> " in shown.stdout
    assert "chance to win" in shown.stdout
    text = (tmp_path / "a.game").read_text()
    assert "@players player 1 = human; random = random; player 3 = human" in text
    assert "win" in shown.stdout
    review = run("review", "a.game", "--json", cwd=tmp_path)
    assert review.returncode == 0, review.stderr
    players = json.loads(review.stdout)["by_player"]
    assert [one["player"] for one in players] == ["player 1", "random", "player 3"]
    assert run("review", "a.game", cwd=tmp_path).returncode == 0


# ---- games one after the other: the tally, the file that keeps them, and scores that people made


PIGS = ("pig", "target=12", "--seed", "5", "--games", "3")


# ---- the tally


@pytest.mark.slow
def test_a_tally_is_what_counting_gives():
    """Wins, losses and costs, counted from the moves alone."""
    table = Table.lay(Pig(target=12))
    sessions = [played(table, seed) for seed in range(12)]
    found = tally(sessions, "Bob")
    last = [(session.accounts[-1].seat, session.accounts[-1]) for session in sessions]
    assert found.win_rate is not None
    assert found.win_rate.wins == sum(seat == 1 for seat, _ in last)  # in Pig the last one wins
    assert found.win_rate.draws == 0
    costs = [
        sum(
            max(table.solution.action_values[a] for a in table.actions(entry.state))
            - table.solution.action_values[entry.action]
            for entry in session.accounts
            if entry.seat == 1
        )
        for session in sessions
    ]
    assert found.loss.mean == pytest.approx(mean(costs), abs=1e-12)
    assert found.loss.standard_error == pytest.approx(stdev(costs) / math.sqrt(12), abs=1e-12)
    assert found.start == pytest.approx(-table.solution.value, abs=1e-12)
    assert found.score is None
    others = tally(sessions, "Ann")
    assert others.win_rate is not None
    assert others.win_rate.mean + found.win_rate.mean == pytest.approx(1)
    # luck and skill of both make the result
    total = found.start + found.luck - found.loss.mean + others.loss.mean
    assert 2 * found.win_rate.mean - 1 == pytest.approx(total, abs=1e-9)


# ---- the command


@pytest.mark.slow
def test_a_series_is_taken_up_where_it_stopped(tmp_path):
    whole = play(tmp_path, *PIGS, "--save", "w.game", typed=" / ".join(["roll"] * 60))
    moves = whole.stdout.count("you> ")
    for stop in (1, moves // 2, moves - 1):
        name = f"{stop}.game"
        part = play(tmp_path, *PIGS, "--save", name, typed=" / ".join(["roll"] * stop))
        go_on = re.search(r"the games are kept, go on with: rollwise (.*)", part.stderr)[1]
        assert go_on == f"play pig target=12 --resume {name} --games 3".replace(" target=12", "")
        rest = play(tmp_path, *go_on.split()[1:], typed=" / ".join(["roll"] * (moves - stop)))
        assert rest.stdout.split("3 games: ")[1] == whole.stdout.split("3 games: ")[1]
        assert (tmp_path / name).read_text() == (tmp_path / "w.game").read_text()
    over = refusal("play", "--resume", "w.game", "--games", "3", cwd=tmp_path)
    assert "the last of 3 games in w.game is over; `rollwise review`" in over
    assert "holds 3 games" in refusal("play", "--resume", "w.game", cwd=tmp_path)
    assert "--games N goes on" in refusal("play", "--resume", "w.game", cwd=tmp_path)
    more = play(tmp_path, "--resume", "w.game", "--games", "4", typed="q").stdout
    assert "Game 4 of 4, seed 8; so far you won " in more


def test_unfinished_games_have_no_score(tmp_path):
    """Of two games the second one is finished; the cost of the first one is in no mean."""
    (tmp_path / "some.game").write_text(
        "@game pig target=20\nAnn: roll 4, roll 6, hold\nBob: roll 1\n\n"
        "@game pig target=20\nAnn: roll 6, roll 6, roll 6, roll 6\n"
    )
    ann, bob, _ = json.loads(output("review", "some.game", "--json", cwd=tmp_path))["by_player"]
    assert (ann["games"], ann["finished"], ann["decisions"]) == (2, 1, 5)
    assert ann["cost"] > 0.5
    assert abs(ann["own_skill"]) < 1e-12
    assert ann["score"] == pytest.approx(ann["start"])
    assert ann["standard_error"] is None
    assert (bob["finished"], bob["score"], bob["luck"]) == (0, None, None)
    told = output("review", "some.game", cwd=tmp_path)
    assert "2, 1 finished" in told
    assert "luck, skill and the result against the optimal player are of finished games" in told
