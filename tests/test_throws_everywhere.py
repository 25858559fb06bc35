"""Every room of rollwise takes games that throw first and choose then."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_runner import output
from throwing import OrderedDice, Runners, TwoBoxes

import rollwise
from rollwise.derive.throws_as_fields import throws_as_fields
from rollwise.graph import NO_THROW

HERE = Path(__file__).parent
RACE, BOXES = f"{HERE / 'throwing.py'}:Runners", f"{HERE / 'throwing.py'}:TwoBoxes"
BLANK = str(NO_THROW)  # which nobody is shown


@pytest.mark.parametrize("game", [Runners(3), TwoBoxes(), OrderedDice()], ids=str)
def test_as_a_game_without_throws(game):
    graph = rollwise.build(game)
    plain = throws_as_fields(graph)
    assert not plain.throw_names
    assert plain.n_states == len(plain.positions) == len(plain.states) == graph.n_states
    assert plain.action_label.min() >= 0
    assert not np.any(plain.states == NO_THROW)
    assert len(np.unique(plain.states, axis=0)) == graph.n_states
    for s in (0, graph.n_states - 1):
        assert len(plain.view[s].actions) == len(graph.view[s].actions)
    assert throws_as_fields(plain) is plain


@pytest.mark.parametrize(
    "words",
    [
        ("check", RACE),
        ("compare", RACE, "length=3"),
        ("optimal", RACE, "length=3", "--range", "moves"),
        ("learn", RACE, "length=3", "--games", "200", "--seed", "1"),
        ("learn", RACE, "length=3", "--games", "200", "--seed", "1", "--json"),
        ("learn", BOXES, "--games", "200", "--seed", "1"),
        ("simulate", RACE, "--policy", "optimal", "--tell", "1", "--seed", "1"),
        ("simulate", BOXES, "--policy", "optimal", "--games", "100", "--seed", "1"),
        ("tournament", RACE, "--policies", "optimal,random", "--games", "50", "--seed", "1"),
        ("distribution", BOXES),
        ("evaluate", RACE, "--policy", "run-in-front"),
        ("respond", RACE, "--to", "run-in-front"),
        ("export", RACE, "length=3", "--to", "prism"),
        ("export", BOXES, "--to", "drn"),
        ("export", BOXES, "--to", "json"),
        ("solve", BOXES, "--method", "sampled", "--samples", "100", "--seed", "1"),
    ],
    ids=lambda words: " ".join(word for word in words if "/" not in word),
)
def test_commands(words):
    assert BLANK not in output(*words)


@pytest.mark.parametrize("kind", ["policy", "value", "regret", "length", "residual", "error"])
@pytest.mark.parametrize("game", [RACE, BOXES], ids=["race", "boxes"])
def test_pictures(tmp_path, kind, game):
    place = tmp_path / "picture.html"
    output("plot", game, kind, "--out", str(place))
    assert BLANK not in place.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("game", [RACE, BOXES], ids=["race", "boxes"])
def test_reports(tmp_path, game):
    output("report", game, "--out", str(tmp_path / "report.html"))
    assert BLANK not in (tmp_path / "report.html").read_text()


def test_environments():
    from gymnasium.utils.env_checker import check_env

    from rollwise.environments.single import GameEnv

    env = GameEnv(Runners(3), opponent="run-in-front")
    check_env(env, skip_render_check=True)
    seen, about = env.reset(seed=1)
    over = False
    while not over:
        assert env.observation_space.contains(seen)
        seen, _, over, _, about = env.step(int(np.flatnonzero(about["action_mask"])[0]))


@pytest.mark.needs_jit
@pytest.mark.parametrize("length", [3, 6])
def test_by_layers_as_whole(length):
    whole, layers = rollwise.solve(Runners(length)), rollwise.solve_by_layers(Runners(length))
    assert len(layers.states) == len(whole)
    for s, row in enumerate(layers.states.tolist()):
        there = whole.find(row)
        sure = whole.error_bounds[there] + layers.error_bounds[s]
        assert abs(whole.values[there] - layers.values[s]) <= sure
    table = layers.table()
    assert table["action"].is_null().all()


def test_learned_tables_say_what_to_do_after_a_throw():
    told = json.loads(output("learn", BOXES, "--games", "300", "--seed", "1", "--json"))
    assert told["rows"]
    assert all("throw.0" in row and row["throw.0"] >= 1 for row in told["rows"])
