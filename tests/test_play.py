"""Sessions and ledgers: luck and skill add up, dice agree with weights, nothing is lost."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from little_games import NO_CONTEST
from msgspec.structs import replace
from play_games import Capture, Mire, Odd
from small_games import SMALL, played
from stakes import Gammons, Pays

import rollwise
from rollwise.coach import Session, Table, read_records, replay, written
from rollwise.coach.game_record import RecordError, agreed_game
from rollwise.coach.ledger import grade, stake
from rollwise.coach.review import review
from rollwise.coach.tally import tally
from rollwise.derive.contest import Duel
from rollwise.documents.played import GameLedger, MoveAccount, ledger_document
from rollwise.errors import UsageError
from rollwise.games import available
from rollwise.games.threes import Threes


class Paid(Pays):
    """One player, who is paid at the end."""

    players: ClassVar[int] = 1


GAMES = {**available(), "capture": Capture, "odd": Odd}
KINDS = [(name, None) for name in sorted(GAMES)]
FOR_POINTS = {name for name, cls in GAMES.items() if cls().objective != "win"}
KINDS += [(name, "shared") for name in sorted(FOR_POINTS - NO_CONTEST)]
TABLES: dict[tuple[str, str | None], Table] = {}


def laid(kind: tuple[str, str | None]) -> Table:
    name, ties = kind
    if kind not in TABLES:
        game = GAMES[name](**SMALL.get(name, {}))
        TABLES[kind] = Table.lay(game if ties is None else Duel(game, ties))
    return TABLES[kind]


@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_luck_and_skill_add_up_to_result_minus_start(kind, seed):
    session = played(laid(kind), seed)
    for seat in range(len(session.names)):
        ledger = session.ledger(seat)
        total = ledger.total_luck + ledger.total_skill
        assert abs(total - (ledger.result - ledger.start)) <= 1e-9
        assert abs(ledger.discrepancy) <= 1e-9
        graph = session.table.graph
        if graph.objective == "win":
            assert abs(ledger.result) in np.abs(graph.ending_payoffs)
        else:
            points = sum(float(graph.action_reward[a.action]) for a in session.accounts)
            assert ledger.result == pytest.approx(points, abs=1e-12)
    for entry in session.accounts:
        sign = -1.0 if (entry.seat == 1) ^ (session.table.graph.objective == "minimize") else 1.0
        assert sign * entry.skill_of(0) == pytest.approx(-entry.cost, abs=1e-9)


@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_optimal_play_costs_nothing(kind, seed):
    table = laid(kind)
    policy = table.solution.policy
    names = ["Ann", "Bob"][: table.graph.players]
    session = Session(table, names, [policy] * len(names), seed=seed)
    while not session.is_over:
        session.choose(session.machine_choice())
        session.roll()
    ledger = session.ledger()
    assert abs(ledger.total_skill) <= 1e-9
    assert not any(entry.is_mistake for entry in session.accounts)


@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_written_games_are_read_back(tmp_path_factory, kind, seed):
    table = laid(kind)
    session = played(table, seed)
    path = tmp_path_factory.mktemp("games") / "one.game"
    path.write_text(written(session), encoding="utf-8")
    (record,) = read_records(path)
    assert agreed_game([record], GAMES[kind[0]], {}) == table.game
    again = replay(record, table)
    assert again.is_over
    told, told_again = ledger_document(session), ledger_document(again)
    assert _without_lines(told) == _without_lines(told_again)
    assert [a.outcome for a in again.accounts] == [a.outcome for a in session.accounts]
    assert written(again, {}) == written(session, {})


def _without_lines(ledger: GameLedger) -> GameLedger:
    def cleared(moves: list[MoveAccount]) -> list[MoveAccount]:
        return [replace(move, line=None) for move in moves]

    return replace(ledger, moves=cleared(ledger.moves), mistakes=cleared(ledger.mistakes))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_dice_bring_each_outcome_as_often_as_it_weighs(kind):
    table = laid(kind)
    graph = table.graph
    actions = range(0, graph.n_actions, max(1, graph.n_actions // 60))
    for action in actions:
        sides = table.narrator.dice(action)
        if not sides:
            continue
        counts: Counter[object] = Counter()
        for faces in itertools.product(*(range(1, most + 1) for most in sides)):
            counts[_what(graph, action, table.narrator.fall_of(action, faces))] += 1
        expected: Counter[object] = Counter()
        for fall in table.falls(action):
            expected[_what(graph, action, fall.number)] += int(fall.ways)
        total, ways = sum(counts.values()), sum(expected.values())
        assert {k: n * ways for k, n in counts.items()} == {
            k: n * total for k, n in expected.items()
        }


def _what(graph, action, number):
    k = int(graph.outcome_indptr[action]) + number
    return (
        int(graph.outcome_state[k]),
        bool(graph.outcome_passes[k]),
        float(graph.outcome_payoff[k]),
    )


def test_a_game_taken_up_again_goes_on_as_it_would_have():
    table = laid(("pig", None))
    whole = played(table, 11)
    for stop in (1, len(whole.accounts) // 2):
        part = Session(table, ["Ann", "Bob"], [None, None], seed=11)
        for entry in whole.accounts[:stop]:
            part.choose(entry.action)
            part.fall(entry.outcome, entry.faces)
        for entry in whole.accounts[stop:]:
            part.choose(entry.action)
            assert part.roll() == entry


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("A: roll 4, hold\nB: roll 7\n", 2, "a die shows 7, but it has the faces 1 to 6"),
        ("A: roll 4 4\n", 1, "roll throws 1 die, not 2"),
        ("A: roll 4, fly\n", 1, "the choices are roll, hold"),
        ("A: roll 4, hold\nA: roll 2\n", 2, "turn, not A's"),
        ("A: roll\n", 1, "what came of 'roll'"),
        ("A: roll #9\n", 1, "#1 to #6"),
        ("A: roll x\n", 1, "isn't a face of a die"),
        ("A: hold\n", 1, "the choices are roll"),
        ("A: roll 6, roll 6, roll 6, roll 6, roll 6\n", 1, "over already"),
        ("A roll 4\n", 1, "isn't a player's name"),
        ("A: roll 1\nB: roll 1\nC: roll 1\n", 1, "has 2 players"),
        ("@format 9\n", 1, "another version of rollwise"),
        ("@rules abc\nA: roll 4\n", 1, "other rules"),
        ("@colour red\n", 1, "there is no @colour"),
        ("# nothing\n", None, "holds no games"),
    ],
)
def test_impossible_games_name_line_and_reason(tmp_path, text, line, reason):
    path = tmp_path / "bad.game"
    path.write_text(text)

    def read() -> None:
        for record in read_records(path):
            replay(record, laid(("pig", None)))

    with pytest.raises(RecordError) as caught:
        read()
    assert reason in str(caught.value)
    assert line is None or f"line {line}:" in str(caught.value)


@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1), st.data())
def test_undo_leads_back_to_where_the_choice_was_made(kind, seed, data):
    session = played(laid(kind), seed)
    before = list(session.accounts)
    choices = [entry for entry in before if entry.is_choice]
    times = data.draw(st.integers(1, 3))
    for entry in list(reversed(choices))[:times]:
        session.undo()
        assert (session.state, session.seat) == (entry.state, entry.seat)
        assert session.accounts == before[: entry.number]
        assert not session.is_over
    if len(choices) < times:
        with pytest.raises(UsageError, match="no choice"):
            session.undo()
    for entry in before[len(session.accounts) :]:
        session.choose(entry.action)
        assert session.roll() == entry


@pytest.mark.parametrize("kind", [("pig", None), ("threes", None), ("threes", "shared")], ids=str)
def test_costs_are_graded_by_what_is_at_stake(kind):
    solution = laid(kind).solution
    at_stake = stake(solution)
    assert at_stake > 0
    assert [grade(solution, share * at_stake) for share in (0.01, 0.021, 0.05, 0.1)] == [
        None,
        "doubtful",
        "bad",
        "very bad",
    ]


@pytest.mark.parametrize("last", [0, 2], ids=["an end", "no end"])
def test_a_mistake_may_cost_infinitely_much(last):
    """Values are infinite where play may never end; a difference between two of them is 0."""
    table = Table.lay(Mire())
    session = Session(table, ["Ann"], [None])
    for action, fall in ((1, 0), (2, 1), (2, last)):
        session.choose(action)
        session.fall(fall)
    first, stays, then = session.accounts
    assert first.cost == np.inf
    assert grade(table.solution, first.cost) == "very bad"
    assert (first.skill_of(0), first.luck_of(0)) == (np.inf, 0.0)
    assert (stays.skill_of(0), stays.luck_of(0)) == (0.0, 0.0)
    ledger = session.ledger()
    assert then.luck_of(0) == ledger.total_luck == (0.0 if last else -np.inf)
    assert ledger.result == (np.inf if last else 3.0)
    assert ledger.total_skill == np.inf
    (reviewed,) = review([session, session])
    assert (reviewed.score, reviewed.standard_error) == (None if last else np.inf, None)


def test_the_stake_of_two_players_is_seen_from_both_sides():
    """Where the mover is never behind, the other player has the opposite values."""
    solution = rollwise.solve(Gammons(length=4))
    assert stake(solution) == 2 * np.abs(solution.values).max()


def test_payoffs_within_a_contest_are_no_points_of_actions():
    """A tally has the scores of a contest for points; a payoff at the end is no score."""
    for game, has_score in ((Threes(dice=2), True), (Paid(), False)):
        table = Table.lay(Duel(game))
        session = played(table, 3)
        found = tally([session], "Ann")
        assert (found.score is not None) == has_score == bool(found.scores)
        assert found.win_rate is not None
