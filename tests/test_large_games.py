"""What commands say of a game that is too large for one graph, whose answer is by layers."""

from __future__ import annotations

import json

import pytest
from cli_runner import output, refusal

import rollwise
from rollwise.answer.filters import said_of
from rollwise.answer.layered_states import LayeredStates
from rollwise.builders import limits
from rollwise.errors import TooManyStates
from rollwise.games.pickomino import Pickomino
from rollwise.games.pig import Pig
from rollwise.graph.policies import ties_in_play
from rollwise.simulate import simulate

pytestmark = pytest.mark.needs_jit

LARGE = ("pig", "target=8")


@pytest.fixture
def small_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs may have 50 states."""
    monkeypatch.setattr(limits, "MAX_STATES", 50)
    monkeypatch.setattr(limits, "MAX_STATES_INTERPRETED", 50)


@pytest.mark.parametrize(
    ("where", "fields", "said"),
    [
        ("a == 1 and b == 2", ["a"], "(a == 1)"),
        ("a == 1 and b == 2", ["a", "b"], "(a == 1) and (b == 2)"),
        ("a == 1 or b == 2", ["a"], None),
        ("board.0 > 2 and throw.0 == 1", ["board.0"], "(board.0 > 2)"),
        ("a == 1 and (b == 2 or a == 3) and a < 4", ["a"], "(a == 1) and (a < 4)"),
        ("a ==", ["a"], "a =="),
    ],
)
def test_what_a_condition_says_of_some_columns(
    where: str, fields: list[str], said: str | None
) -> None:
    assert said_of(where, fields) == said


@pytest.mark.usefixtures("small_graphs")
@pytest.mark.parametrize("pair", [("optimal",), ("hold-at-20",), ("random", "optimal")])
def test_a_large_game_is_simulated_turn_by_turn(pair: tuple[str, ...]) -> None:
    against = ("--against", pair[1]) if len(pair) == 2 else ()
    asked = ("simulate", *LARGE, "--policy", pair[0], *against, "--games", "400", "--seed", "3")
    found = json.loads(output(*asked, "--json"))
    whole = rollwise.solve(Pig(target=8), max_states=10**6)
    exact = simulate(whole, *pair, games=2)
    assert found["games"] == sum(side["games"] for side in found["sides"]) == 400
    for side, known in zip(found["sides"], exact.sides, strict=True):
        for name in ("turns", "moves"):
            off = abs(side[name]["mean"] - getattr(known, name).estimate.exact)
            assert off < 4 * side[name]["standard_error"]
        assert known.win_rate is not None
        assert known.win_rate.exact is not None
        off = abs(side["win_rate"]["mean"] - known.win_rate.exact)
        assert off < 4 * side["win_rate"]["standard_error"]
    assert json.loads(output(*asked, "--json")) == found
    assert "games are played turn by turn" in output(*asked)
    value = found["sides"][0]["win_rate"]["exact"]
    assert (value is None) == (pair != ("optimal",))
    if value is not None:
        assert abs(value - (whole.win_probability or 0)) < 1e-12


@pytest.mark.usefixtures("small_graphs")
def test_games_played_turn_by_turn_have_the_ties_of_the_whole() -> None:
    """These games come to every state that optimal play can come to."""
    asked = ("simulate", "pickomino", "dice=3", "--games", "40000", "--seed", "3")
    told = json.loads(output(*asked, "--policy", "optimal", "--json"))
    whole = rollwise.solve(Pickomino(dice=3), max_states=10**6)
    ties = ties_in_play(whole.graph, whole.policy)
    assert ties is not None
    assert told["notes"]  # played turn by turn
    assert told["equally_good"] == ties._asdict()
    assert ties.text in output(*asked, "--policy", "optimal")
    told = json.loads(output(*asked, "--policy", "random", "--json"))
    assert told["equally_good"] is None


@pytest.mark.usefixtures("small_graphs")
def test_a_large_game_is_solved_by_layers_in_python_too() -> None:
    found = rollwise.solve(Pig(target=8), tolerance=1e-9)
    known = rollwise.solve(Pig(target=8), max_states=10**6)
    assert isinstance(found.space, LayeredStates)
    assert found.win_probability is not None
    assert known.win_probability is not None
    assert found.tolerance == 1e-9
    assert abs(found.win_probability - known.win_probability) <= 1e-12
    with pytest.raises(TooManyStates):
        rollwise.solve(Pig(target=8), method="policy-iteration")
    with pytest.raises(TooManyStates):
        rollwise.solve(Pig(target=8), max_states=50)


def test_a_process_with_little_memory_solves_by_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that can go by layers has fewer states in a graph where there is little memory."""
    known = json.loads(output("solve", "pig", "target=60", "--json"))
    monkeypatch.setattr(limits.memory_limits, "left", lambda: 50e6)
    found = json.loads(output("solve", "pig", "target=60", "--json"))
    assert "layers" in found
    assert "layers" not in known
    assert abs(found["value"] - known["value"]) <= found["error_bound"] + known["error_bound"]


@pytest.mark.usefixtures("small_graphs")
def test_a_large_game_is_played_and_its_table_has_each_position_once(tmp_path) -> None:
    asked = ("table", *LARGE, "--each-action", "--json")
    rows = json.loads(output(*asked))["rows"]
    known = rollwise.solve(Pig(target=8), max_states=10**6).table(each_action=True)
    assert len(rows) == len(known)
    assert [row["P_hold"] for row in rows] == pytest.approx(known["P_hold"].to_list(), abs=1e-12)
    games = str(tmp_path / "games.txt")
    seats = ("--seats", "random,hold-at-20", "--games", "6", "--seed", "4", "--save", games)
    series = json.loads(output("play", *LARGE, *seats, "--json"))
    assert series["games"] == 6
    assert "is too large for exploit" in refusal("exploit", games, "--player", "random")
