"""Games one after the other: the tally, the file that keeps them, and scores that people made."""

from __future__ import annotations

import io
import json
import math
import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from statistics import mean, stdev
from unittest import mock

import numpy as np
import pytest
from cli_runner import Done, output, refusal, run

import rollwise
from rollwise import dice
from rollwise.coach import Session, Table, read_records, replay, written
from rollwise.coach.made_scores import made_scores
from rollwise.coach.score_bins import counted, score_bins
from rollwise.coach.tally import tally
from rollwise.derive.contest import Duel
from rollwise.errors import UsageError
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Pig
from rollwise.games.threes import Threes

pytestmark = pytest.mark.slow

STUDIES = Path(__file__).parent.parent / "docs" / "case-studies"
PIGS = ("pig", "target=12", "--seed", "5", "--games", "3")


def play(folder: Path, *arguments: str, typed: str) -> Done:
    lines = io.StringIO("".join(f"{line}\n" for line in typed.split(" / ")))
    with mock.patch("sys.stdin", lines):
        return run("play", *arguments, cwd=folder)


def random_games(table: Table, n: int, names: tuple[str, ...] = ("Ann", "Bob")) -> list[Session]:
    sessions = []
    for seed in range(n):
        players = names[: table.graph.players]
        session = Session(table, players, [None] * len(players), seed=seed)
        generator = np.random.default_rng(seed)
        while not session.is_over:
            choices = session.choices
            session.choose(choices[int(generator.integers(len(choices)))].action)
            session.roll()
        sessions.append(session)
    return sessions


# ---- the tally


def test_a_tally_is_what_counting_gives():
    """Wins, losses and costs, counted from the moves alone."""
    table = Table.lay(Pig(target=12))
    sessions = random_games(table, 12)
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


def test_a_tally_of_points():
    sessions = random_games(Table.lay(Threes(dice=2)), 9)
    found = tally(sessions, "Ann")
    scores = [
        sum(s.table.graph.action_reward[entry.action] for entry in s.accounts) for s in sessions
    ]
    assert found.win_rate is None
    assert found.score is not None
    assert found.score.mean == pytest.approx(mean(scores))
    assert found.score.mean == pytest.approx(found.start + found.luck + found.loss.mean, abs=1e-9)


def test_a_tally_of_contests_has_wins_and_points():
    sessions = random_games(Table.lay(Duel(Threes(dice=2))), 9)
    scores = [(session.score(0), session.score(1)) for session in sessions]
    one, two = tally(sessions, "Ann"), tally(sessions, "Bob")
    assert one.score is not None
    assert one.score.mean == mean(first for first, _ in scores)
    assert one.win_rate is not None
    assert two.win_rate is not None
    assert one.win_rate.wins == sum(first < second for first, second in scores)
    assert one.win_rate.draws == sum(first == second for first, second in scores)
    assert two.win_rate.wins == sum(first > second for first, second in scores)


def test_games_that_are_all_alike_have_no_standard_error(tmp_path):
    """Who wins every game has no spread; the interval still says what isn't known."""
    sessions = [s for s in random_games(Table.lay(Pig(target=12)), 12) if s.accounts[-1].seat == 1]
    found = tally(sessions, "Bob")
    n = len(sessions)
    assert n > 1
    assert found.win_rate is not None
    assert found.win_rate.mean == 1
    assert math.isnan(found.win_rate.standard_error)
    low, high = found.win_rate.interval
    assert low == pytest.approx(0.025 ** (1 / n))  # Clopper and Pearson, of n wins in n games
    assert high == 1


def test_a_series_of_equal_games_says_so(tmp_path):
    typed = " / ".join(["roll"] * 60)
    for seed in range(1, 20):
        options = ("--games", "2", "--seed", str(seed), "--json")
        told = json.loads(play(tmp_path, "pig", "target=2", *options, typed=typed).stdout)
        if told["players"][0]["wins"] == 2:
            break
    assert told["players"][0]["wins"] == 2
    assert told["players"][0]["win_rate"]["standard_error"] is None
    shown = play(tmp_path, "pig", "target=2", *options[:-1], typed=typed).stdout
    assert re.search(r"wins, a draw half a win +100\.00 % *\n", shown)
    assert re.search(r"95 % confidence interval +15\.81 to 100\.00 %", shown)  # root of 0.025
    assert "no ±: the same in every game, which doesn't tell how games differ" in shown


def test_nobody_has_a_tally_before_a_game_is_over():
    session = Session(Table.lay(Pig(target=12)), ["Ann", "Bob"], [None, None], seed=1)
    with pytest.raises(UsageError, match="Ann has finished no game"):
        tally([session], "Ann")


# ---- the command


def test_a_series_is_played_and_added_up(tmp_path):
    done = play(tmp_path, *PIGS, "--against", "hold-at-20", typed=" / ".join(["hold"] * 40))
    shown = done.stdout
    assert [f"Game {n} of 3, seed {4 + n}" in shown for n in (1, 2, 3)] == [True] * 3
    assert shown.count("Type a choice") == 1
    assert "Game 2 of 3, seed 6; so far you won " in shown
    head = re.search(r"3 games: you won (\d), drew (\d), lost (\d)", shown)
    assert sum(map(int, head.groups())) == 3
    assert re.search(r"lost by choice a game \(percentage points\) +\d+\.\d\d ± \d+\.\d\d", shown)
    assert not list(tmp_path.iterdir())
    assert done.returncode == 0


def test_a_series_as_data_and_as_a_file(tmp_path):
    typed = " / ".join(["roll"] * 60)
    done = play(tmp_path, *PIGS, "--save", "a.game", "--json", typed=typed)
    told = json.loads(done.stdout)
    assert (told["games_asked"], told["games"]) == (3, 3)
    (you,) = told["players"]
    assert you["player"] == "you"
    assert you["wins"] + you["draws"] + you["losses"] == 3
    assert you["win_rate"]["mean"] == pytest.approx(you["wins"] / 3)
    assert [ledger["seed"] for ledger in told["ledgers"]] == [5, 6, 7]
    cost = sum(move["cost"] for ledger in told["ledgers"] for move in ledger["moves"]
               if move["player"] == "you")  # fmt: skip
    assert you["loss"]["mean"] == pytest.approx(cost / 3, abs=1e-12)
    reviewed = json.loads(output("review", "a.game", "--json", cwd=tmp_path))
    assert reviewed["games"] == 3
    assert reviewed["players"][0]["cost"] == pytest.approx(cost, abs=1e-12)


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


def test_players_change_seats(tmp_path):
    asked = (*PIGS, "--seat", "alternate", "--save", "s.game")
    stopped = play(tmp_path, *asked, typed=" / ".join(["roll"] * 60))
    assert stopped.returncode == 0
    seats = [record.seats[0][0] for record in read_records(tmp_path / "s.game")]
    assert seats == ["you", "optimal", "you"]
    assert "must be first or second" in refusal("play", "pig", "--seat", "alternate")
    assert "first or second or alternate" in refusal("play", "pig", "--seat", "x", "--games", "2")
    people = play(tmp_path, "pig", "target=12", "--against", "human", "--games", "2", "--seed",
                  "1", typed=" / ".join(["roll"] * 60)).stdout  # fmt: skip
    assert re.search(r"2 games: player 1 won .*\n(.*\n)+2 games: player 2 won ", people)


def test_scores_and_contests_in_series(tmp_path):
    alone = play(tmp_path, "threes", "dice=2", "--games", "2", "--seed", "1",
                 typed=" / ".join(["1"] * 9)).stdout  # fmt: skip
    assert re.search(r"2 games: you scored \d+\.\d{3} a game", alone)
    assert re.search(r"points a game +\d+\.\d{3} ± ", alone)
    contest = play(tmp_path, "threes", "dice=2", "--contest", "--games", "2", "--seed", "1",
                   typed=" / ".join(["1"] * 20)).stdout  # fmt: skip
    assert re.search(r"2 games: you won \d, drew \d, lost \d", contest)
    assert "points a game" in contest


@pytest.mark.parametrize("n", [2, 4])
def test_scores_are_counted_in_bins_of_the_exact_distribution(n):
    game = Threes(dice=n)
    solution = rollwise.solve(game)
    exact = rollwise.distribution(game)
    bins = score_bins(solution)
    assert len(bins) <= 16
    assert sum(one.chance for one in bins) == pytest.approx(1)
    for value, probability in zip(exact.values.tolist(), exact.probabilities, strict=True):
        (inside,) = (one for one in bins if one.low <= value <= one.high)
        assert probability <= inside.chance + 1e-12
        assert counted(bins, [value, value])[bins.index(inside)] == 2
    assert score_bins(rollwise.solve(Pig(target=12))) == []


def test_a_series_for_points_shows_the_scores_over_best_play(tmp_path):
    options = ("threes", "dice=2", "--games", "6", "--seed", "1")
    told = play(tmp_path, *options, typed=" / ".join(["1"] * 40)).stdout
    table = told.partition("Scores of you, and where best play has them (|):\n")[2]
    rows = re.findall(r"^ +(\d+(?: to \d+)?) +(\d+) +([\d.]+) % +([\d.]+) %( .*)$", table, re.M)
    bins = score_bins(rollwise.solve(Threes(dice=2)))
    assert [row[0] for row in rows] == [one.text for one in bins]
    assert sum(int(row[1]) for row in rows) == 6
    for row, one in zip(rows, bins, strict=True):
        assert float(row[2]) == pytest.approx(100 * int(row[1]) / 6, abs=0.05)
        assert float(row[3]) == pytest.approx(100 * one.chance, abs=0.05)
        assert row[4].count("|") == 1
        assert ("█" in row[4]) == (int(row[1]) > 0)


def test_a_series_that_stops_in_its_first_game(tmp_path):
    done = play(tmp_path, *PIGS, "--json", typed="roll / q")
    told = json.loads(done.stdout)
    assert (told["games"], told["players"]) == (0, [])
    assert "the games are kept" in done.stderr
    assert "--games" in refusal("play", "pig", "--games", "0")


# ---- scores that people made


@pytest.fixture
def kept(tmp_path):
    """Four finished games of Threes and one that was given up, written down."""
    table = Table.lay(Threes(dice=2))
    sessions = random_games(table, 4, ("you",))
    unfinished = Session(table, ["you"], [None], seed=9)
    texts = [written(session, {"dice": "here"}) for session in (*sessions, unfinished)]
    path = tmp_path / "mine.game"
    path.write_text("\n".join(texts), encoding="utf-8")
    return path, [int(session.score()) for session in sessions]


def test_scores_of_written_games(kept):
    path, scores = kept
    table = Table.lay(Threes(dice=2))
    assert made_scores(path, table.policies).tolist() == scores
    told = json.loads(output("scores", "threes", "dice=2", str(path), "--json"))
    assert (told["games"], told["mean"]) == (4, mean(scores))
    (path.parent / "list.txt").write_text("".join(f"{score}\n" for score in scores))
    listed = json.loads(
        output("scores", "threes", "dice=2", str(path.parent / "list.txt"), "--json")
    )
    assert listed == told


def test_other_games_have_no_scores_here(kept, tmp_path):
    path, _ = kept
    asked = ("scores", "threes", "dice=2", str(path))
    said = refusal("scores", "threes", "dice=3", str(path))
    assert (
        "mine.game, line 1: this is a game of threes dice=2 skip=true, not of threes dice=3" in said
    )
    text = path.read_text().replace("@seed", "@ties shared\n@seed")
    path.write_text(text)
    assert "was played to reach or beat a score" in refusal(*asked)
    path.write_text("you: roll 1 1\n")
    assert "holds 0 finished games; 2 are needed" in refusal(
        "scores", "threes", "dice=2", str(path)
    )
    path.write_text("you: fly\n")
    assert "line 1: 'fly' can't be done" in refusal(*asked)


def test_people_are_drawn_over_the_exact_distribution(kept, tmp_path):
    go = pytest.importorskip("plotly.graph_objects")
    path, scores = kept
    solution = Table.lay(Threes(dice=2)).solution
    figure = solution.plot("scores", made=tuple(scores), policy="take-one")
    exact, people = figure.data
    assert isinstance(people, go.Bar)
    counts = {score: 100 * scores.count(score) / 4 for score in scores}
    assert dict(zip(people.x, people.y, strict=True)) == pytest.approx(counts)
    assert sum(exact.y) == pytest.approx(100)
    assert exact.name == "take-one, exact"
    for command in (
        ("scores", "threes", "dice=2", str(path), "--out", "one.html"),
        ("plot", "threes", "dice=2", "scores", "--with", str(path), "--out", "two.html"),
    ):
        assert "wrote " in output(*command, cwd=tmp_path)
    assert "rollwiseFigure" in (tmp_path / "one.html").read_text()
    wrong = ("plot", "threes", "dice=2", "policy", "--with", str(path))
    assert "--with takes scores that people made, or games that `play` kept" in refusal(*wrong)
    assert "must end in" in refusal("scores", "threes", "dice=2", str(path), "--out", "a.jpg")
    (tmp_path / "far.txt").write_text("3\n99\n")
    far = ("plot", "threes", "dice=2", "scores", "--with", "far.txt", "--out", "far.html")
    assert "the score 99 can't be" in refusal(*far, cwd=tmp_path)
    with pytest.raises(UsageError, match="no scores to draw"):
        solution.plot("scores", made=())


# ---- the sample games of a source


def test_the_sample_games_of_dice_blackjack_hold_one_mistake():
    """Two dice at 11 to 7 cost 34.12 percentage points of the chance to win, by fractions."""

    @cache
    def wins(mine: int, theirs: int, n: int = 0) -> Fraction:
        if n == 0:
            return max(wins(mine, theirs, 1), wins(mine, theirs, 2))
        total = Fraction(0)
        for ways, points in dice.total(n, 6):
            after = mine + points
            total += ways * (1 - wins(theirs, after) if after < 15 else int(after <= 17))
        return total / 6**n

    table = Table.lay(DiceBlackjack())
    sessions = [replay(r, table) for r in read_records(STUDIES / "dice_blackjack.game")]
    assert [len(session.accounts) for session in sessions] == [3, 4, 5]
    assert all(session.is_over for session in sessions)
    mistakes = []
    for session in sessions:
        for entry in session.accounts:
            mine, theirs = table.graph.states[entry.state].tolist()
            n = int(table.graph.action_label[entry.action])
            cost = wins(mine, theirs) - wins(mine, theirs, n)
            assert entry.cost / 2 == pytest.approx(float(cost), abs=1e-12)
            assert entry.is_mistake == (cost > 0)
            if cost:
                mistakes.append((mine, theirs, n, f"{float(100 * cost):.2f}"))
    assert mistakes == [(11, 7, 2, "34.12")]
    told = [session.told(entry) for session in sessions for entry in session.accounts]
    assert told[0] == "A throws 5 and 6: 11 to 0"
    assert told[2] == "A throws 5 and 5: 21 to 7; A loses"
    assert told[-1] == "A throws 1: 15 to 13; A wins"
    shown = output("review", "dice-blackjack", str(STUDIES / "dice_blackjack.game"))
    assert re.search(r"1 +2 +1 +34\.12 +34\.12 +11 to 7; 15 to 17 wins \(line 5\)", shown)


def test_the_page_reviews_them():
    page = " ".join((STUDIES / "dice_blackjack.md").read_text().split())
    assert "| 1 | A throws 5 and 5: 21 to 7; A loses |" in page
    assert "Of 12 throws, 11 were right" in page
    assert "34.12 percentage points of the chance to win" in page
