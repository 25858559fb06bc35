"""Games of games that are too large for one graph, and what `check` says of these."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from cli_runner import output, refusal
from throwing import Runners

import rollwise
from rollwise import AGAIN, PASS, WIN, Game, policy
from rollwise.builders import limits
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import some_states
from rollwise.errors import PolicyError
from rollwise.games.chicago import Chicago
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.yahtzee import Yahtzee
from rollwise.graph.choices import chances
from rollwise.simulate.turn_by_turn import (
    best_play,
    play_turn_by_turn,
    policy_play,
    random_play,
    rule_play,
)
from rollwise.thumb.language import Rule

GAMES = [Pig(target=6), Runners(), Chicago(dice=2, throws_a_turn=2)]


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling takes longer than these tests."""
    monkeypatch.setattr("rollwise.builders.some_states.FEW", 10**9)


def moves(graph: Any, rows: Any, s: int) -> list[Any]:
    """What can be done in a state and comes of it, by fields."""
    chance, found = chances(graph), []
    for action in graph.view[s].actions:
        a = action.index
        outcomes = range(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
        found.append(
            (
                action.label,
                float(graph.action_reward[a]),
                sorted(
                    (tuple(rows[graph.outcome_state[k]]), chance[k], graph.outcome_payoff[k])
                    if graph.outcome_state[k] >= 0
                    else ((), chance[k], graph.outcome_payoff[k])
                    for k in outcomes
                ),
            )
        )
    return found


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
@pytest.mark.usefixtures("interpreted")
def test_some_states_are_a_part_of_the_whole(game: Game, closed: bool) -> None:
    whole = rollwise.build(game, mode="interpreted")
    chosen = np.arange(0, whole.n_positions, 3)
    part, border = some_states(Rules(game), whole.states[chosen], closed=closed)
    assert part.n_positions == len(chosen)
    width = part.rows.shape[1]
    blank = np.full((len(border), width - border.shape[1]), -(2**31), np.int32)
    rows = np.concatenate([part.rows, np.hstack([border, blank])]).tolist()
    all_rows = whole.rows.tolist()
    for s in range(part.n_states):
        t = whole.find(part.view[s].fields, *_thrown(part.view[s]))
        assert moves(part, rows, s) == moves(whole, all_rows, t)
    inside = {tuple(row) for row in part.states.tolist()}
    led_back = [tuple(row) in inside for row in border.tolist()]
    if closed:
        assert not any(led_back)
    else:
        assert part.outcome_state.max() >= part.n_states


def _thrown(state: Any) -> tuple[Any, ...]:
    if not state.throw:
        return ()
    return (state.throw, state.rolls_left) if state.graph.has_pool else (state.throw,)


@pytest.mark.needs_jit
@pytest.mark.parametrize("game", [Pig(target=6), Yahtzee(boxes=1)], ids=lambda game: game.name)
def test_compiled_rules_say_the_same_of_some_states(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rollwise.build(game, mode="interpreted").states[::2]
    found = []
    for few in (0, 10**9):
        monkeypatch.setattr("rollwise.builders.some_states.FEW", few)
        found.append(some_states(Rules(game), rows))
    (one, border), (other, others) = found
    assert one.content_hash == other.content_hash
    assert border.tolist() == others.tolist()


@pytest.mark.needs_jit
@pytest.mark.parametrize("game", [Pig(target=6), Yahtzee(boxes=1)], ids=lambda game: game.name)
@pytest.mark.usefixtures("interpreted")
def test_the_best_play_gains_what_the_start_is_worth(game: Game) -> None:
    answer = rollwise.solve_by_layers(game)
    played = play_turn_by_turn(game, best_play(answer), 400, 1)
    assert played.over.all()
    assert abs(played.mean - answer.value) < 4 * played.standard_error
    assert played.visits.sum() >= 400
    assert played.positions[0].tolist() == answer.states[answer.start].tolist()
    again = play_turn_by_turn(game, best_play(answer), 400, 1)
    assert again.gains.tolist() == played.gains.tolist()


@pytest.mark.needs_jit
def test_parts_of_an_answer_are_worth_what_it_says() -> None:
    answer = rollwise.solve_by_layers(Pig(target=6))
    numbers = np.arange(len(answer.states))[::-2]
    part = answer.parts(numbers)
    assert answer.numbers_of(answer.states[numbers]).tolist() == numbers.tolist()
    found, known = part.values[: len(numbers)], answer.values[numbers]
    assert np.all(abs(found - known) <= part.error_bound + answer.error_bound)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
@pytest.mark.usefixtures("interpreted")
def test_random_play_is_that_of_the_random_policy(game: Game) -> None:
    played = play_turn_by_turn(game, random_play(game, np.random.default_rng(2)), 400, 1)
    exact = rollwise.evaluate(game, "random")
    assert abs(played.mean - exact.values[0]) < 4 * played.standard_error


@pytest.mark.usefixtures("interpreted")
def test_policies_of_the_rules_are_played() -> None:
    game = Pig(target=6)
    player = policy_play(game, "hold-at-20", np.random.default_rng(2))
    played = play_turn_by_turn(game, player, 400, 1)
    exact = rollwise.evaluate(game, "hold-at-20")
    assert abs(played.mean - exact.values[0]) < 4 * played.standard_error
    with pytest.raises(PolicyError, match="has no policy 'x'"):
        policy_play(game, "x", np.random.default_rng(2))


class Total(NamedTuple):
    total: int


@dataclass(frozen=True)
class Long(Game):
    """Add one to three to a common total; who comes to the mark wins."""

    mark: int = 60
    falls: bool = False

    def start(self) -> Total:
        return Total(0)

    def actions(self, s: Total) -> Any:
        yield 1
        yield 2

    def outcomes(self, s: Total, action: int) -> Any:
        for more in (action, action + 1):
            if s.total + more >= self.mark:
                yield 1, WIN, s
            else:
                yield 1, PASS if more > 1 else AGAIN, Total(s.total + more)

    def progress(self, s: Total) -> int:
        return -s.total if self.falls else s.total

    @policy
    def odd(self, s: Total) -> int:
        """Two after an even total."""
        return 2 if s.total % 2 == 0 else 3 if self.falls else 1


@pytest.mark.usefixtures("interpreted")
def test_check_looks_at_a_sample_of_a_large_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_STATES_INTERPRETED", 50)
    monkeypatch.setattr(limits, "MAX_STATES", 50)
    monkeypatch.setattr("rollwise.builders.some_states.jit_disabled", lambda: True)
    report = rollwise.check(Long())
    told = {finding.topic: finding for finding in report.findings}
    assert report.passed
    assert told["size"].level == "note"
    assert "100 games came to" in told["rules"].text
    assert told["policies"].text == "odd has an action wherever 20 games came to"
    assert told["progress"].level == "ok"
    assert told["actions that are never right"].text == (
        "not looked for: the game is too large for that"
    )
    report = rollwise.check(Long(falls=True))
    wrong = {finding.topic for finding in report.findings if finding.level == "error"}
    assert wrong == {"progress", "policies"}
    assert not rollwise.check(Long(), max_states=10).passed  # it can't be solved so


@pytest.mark.usefixtures("interpreted")
def test_games_that_come_to_no_end_are_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollwise.simulate.turn_by_turn.MOST_TURNS", 5)
    game = Long()
    played = play_turn_by_turn(game, random_play(game, np.random.default_rng(1)), 3, 1)
    assert not played.over.any()
    assert played.visits.sum() == 15


CLAUSES = [
    {"if": "ahead + their_waiting >= 3", "do": "enter"},
    {"most": ["12*captures + 5*again + number - danger", "enters"]},
]


@pytest.mark.usefixtures("interpreted")
def test_a_rule_that_looks_at_features_of_actions_plays_as_in_the_graph(tmp_path: Path) -> None:
    game, file = RoyalUr(pieces=2), tmp_path / "rule.json"
    file.write_text(json.dumps({"rule": CLAUSES}))
    graph = rollwise.build(game, mode="interpreted")
    taken = np.flatnonzero(Rule.load(file, graph, game).policy(graph, game).probability)
    rows = graph.states[: graph.n_positions : 40, : len(graph.field_names)]
    turn = rule_play(game, str(file))(np.ascontiguousarray(rows))
    states = np.arange(turn.graph.n_states)
    labels = turn.graph.action_label[turn.act(states)]
    for s in states.tolist():
        there = graph.find(turn.graph.view[s].fields, *_thrown(turn.graph.view[s]))
        assert labels[s] == graph.action_label[taken[there]]


@pytest.mark.needs_jit
def test_perfect_play_is_looked_up_in_a_folder(tmp_path: Path) -> None:
    words = ["royal-ur", "pieces=2"]
    folder, file, rule = (str(tmp_path / name) for name in ("layers", "a.parquet", "rule.json"))
    Path(rule).write_text(json.dumps({"rule": CLAUSES}))
    output("solve", *words, "--by-layer", "--save", folder)
    output("solve", *words, "--save", file)
    asked = ["simulate", *words, "--policy", rule, "--against", "optimal", "--seed", "3"]
    found = json.loads(output(*asked, "--games", "1000", "--load", folder, "--json"))
    assert found["seed"] == 3
    assert json.loads(output(*asked, "--games", "1000", "--load", folder, "--json")) == found
    exact = json.loads(output(*asked, "--games", "1000", "--load", file, "--json"))
    known, told = exact["win_rate"], found["win_rate"]
    assert told["exact"] is None
    assert abs(told["mean"] - known["exact"]) < 4 * told["standard_error"]
    assert "--tell isn't for games that are played turn by turn" in refusal(
        "simulate", *words, "--policy", rule, "--tell", "1", "--load", folder
    )
    refusal("simulate", "royal-ur", "pieces=3", "--policy", rule, "--load", folder)
