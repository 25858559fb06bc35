"""What commands say of a game that is too large for one graph, whose answer is by layers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from cli_runner import output, run
from stakes import Gammons

import rollwise
from rollwise.analysis.lengths import lengths
from rollwise.answer.filters import said_of
from rollwise.answer.layered_solution import LayeredSolution
from rollwise.builders import limits
from rollwise.games.chicago import Chicago
from rollwise.games.pig import Pig
from rollwise.graph.choices import has_choice
from rollwise.numbers.printed import certified, chance
from rollwise.report.facts import Sample
from rollwise.simulate import simulate
from rollwise.simulate.large_match import simulate_large

pytestmark = pytest.mark.needs_jit

LARGE = ("pig", "target=8")


@pytest.fixture
def small_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs may have 50 states."""
    monkeypatch.setattr(limits, "MAX_STATES", 50)
    monkeypatch.setattr(limits, "MAX_STATES_INTERPRETED", 50)


@pytest.mark.usefixtures("small_graphs")
def test_the_table_of_a_large_game_has_the_rows_of_the_whole() -> None:
    found = pl.DataFrame(json.loads(output("table", *LARGE, "--json"))["rows"])
    known = rollwise.solve(Pig(target=8), max_states=10**6).table()
    assert found.drop("value", "win_probability", "error_bound").equals(
        known.drop("value", "win_probability", "error_bound").cast(
            dict.fromkeys(("banked", "rival", "turn"), pl.Int64)
        )
    )
    assert (found["value"] - known["value"]).abs().max() < 1e-12  # type: ignore[operator]
    some = pl.DataFrame(
        json.loads(output("table", *LARGE, "--where", "turn == 3", "--json"))["rows"]
    )
    assert some.equals(found.filter(pl.col("turn") == 3))


@pytest.mark.usefixtures("small_graphs")
def test_pictures_of_some_positions_of_a_large_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "p.html")
    output("plot", *LARGE, "policy", "--where", "rival == 0", "--out", place)
    assert "banked" in Path(place).read_text(encoding="utf-8")
    refused = run("plot", *LARGE, "length", "--out", place)
    assert refused.returncode == 2
    assert "pictures of some of its positions are policy, value" in refused.stderr
    monkeypatch.setattr("rollwise.builders.some_states.STATES_AT_ONCE", 5)
    refused = run("plot", *LARGE, "policy", "--out", place)
    assert refused.returncode == 2
    assert "choose at most 5 of its positions by their fields" in refused.stderr


@pytest.mark.usefixtures("small_graphs")
@pytest.mark.parametrize("game", [LARGE, ("chicago", "dice=2")], ids=lambda game: game[0])
def test_a_large_game_has_a_report(
    game: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rollwise.report.facts.GAMES", 40)
    monkeypatch.setattr("rollwise.report.sections.GAMES", 40)
    place = tmp_path / "report.html"
    output("report", *game, "--out", str(place))
    text = place.read_text(encoding="utf-8")
    plain = re.sub(r"<script.*?</script>|<[^>]*>", "", text, flags=re.DOTALL)
    kind = {"pig": Pig(target=8), "chicago": Chicago(dice=2)}[game[0]]
    answer = rollwise.solve_by_layers(kind)
    worth = certified if answer.is_score else chance
    assert str(worth(answer.value, answer.error_bound)) in plain
    assert f"The game has {len(answer.states):,} positions." in plain
    assert "estimated from 40 games that rollwise played so, seed 1" in plain
    assert "strategy-iteration by layers" in plain
    assert "nan" not in plain
    for name in kind.policies():
        assert name in plain


@pytest.mark.usefixtures("small_graphs")
def test_a_report_estimates_what_is_exact_of_a_small_game() -> None:
    sample = Sample(rollwise.solve_by_layers(Pig(target=8)))
    whole = rollwise.solve(Pig(target=8), max_states=10**6)
    exact = lengths(whole.graph, whole.policy)
    found = sample.lengths
    assert found.mean == pytest.approx(exact.mean, rel=0.1)
    met = found.visits[has_choice(sample.solution.graph)].sum()
    assert met == pytest.approx(exact.visits[has_choice(whole.graph)].sum(), rel=0.1)
    assert found.first.sum() == pytest.approx(exact.first.sum(), abs=0.08)
    (first, second) = sample.games_of("hold-at-20")
    known = rollwise.evaluate(whole, "hold-at-20", "optimal")
    assert abs(first.mean - known.values[0]) < 4 * first.standard_error
    assert abs(-second.mean - known.values_second[0]) < 4 * second.standard_error


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
def test_a_large_game_for_points_is_simulated() -> None:
    asked = ("simulate", "yahtzee", "boxes=1", "--games", "50", "--seed", "1")
    assert "(exact " in output(*asked, "--policy", "optimal")
    refused = run(*asked, "--policy", "x")
    assert refused.returncode == 2
    assert "has no policy 'x'" in refused.stderr
    refused = run(*asked, "--policy", "random", "--against", "optimal")
    assert refused.returncode == 2
    assert "no opponent" in refused.stderr


@pytest.mark.usefixtures("small_graphs")
def test_a_policy_of_a_large_game_is_estimated() -> None:
    refused = run("evaluate", *LARGE, "--policy", "hold-at-20")
    assert refused.returncode == 2
    assert "simulate estimates what policies are worth" in refused.stderr


def test_stakes_are_simulated_turn_by_turn() -> None:
    game = Gammons()

    def answer() -> LayeredSolution:
        raise AssertionError("nobody plays the best")

    match = simulate_large(game, "random", games=200, seed=1, answer=answer)
    (side,) = match.sides
    exact = rollwise.evaluate(game, "random").values[0]
    assert side.score is not None
    assert side.scores is not None
    assert 3.0 in side.scores
    assert abs(side.score.mean - exact) < 4 * side.score.standard_error


def test_a_process_with_little_memory_solves_by_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that can go by layers has fewer states in a graph where there is little memory."""
    known = json.loads(output("solve", "pig", "target=60", "--json"))
    monkeypatch.setattr(limits.memory_limits, "left", lambda: 50e6)
    found = json.loads(output("solve", "pig", "target=60", "--json"))
    assert "layers" in found
    assert "layers" not in known
    assert abs(found["value"] - known["value"]) <= found["error_bound"] + known["error_bound"]
