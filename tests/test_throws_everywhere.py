"""Every room of rollwise takes games that throw first and choose then."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from cli_runner import output, refusal
from throwing import OrderedDice, Runners, TwoBoxes

import rollwise
from rollwise.derive.changed import throws_as_fields
from rollwise.errors import UsageError
from rollwise.games.cant_stop import CantStop
from rollwise.games.shut_the_box import ShutTheBox
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


@pytest.mark.parametrize("game", [RACE, BOXES])
def test_saved_answers_are_policies(tmp_path, game):
    """A solution, and a table with what to do after each throw."""
    kept, table = str(tmp_path / "kept.parquet"), str(tmp_path / "after.csv")
    output("solve", game, "--save", kept)
    (tmp_path / "after.csv").write_text(output("table", game, "--throws", "--csv"))
    best = json.loads(output("evaluate", game, "--policy", "optimal", "--json"))
    for policy in (kept, table):
        found = json.loads(output("evaluate", game, "--policy", policy, "--json"))
        assert found["value"] == best["value"]
    shown = json.loads(output("tournament", game, "--policies", f"{kept},{table},random", "--json"))
    assert len(shown["standings"]) == 3
    (tmp_path / "before.csv").write_text(output("table", game, "--csv"))
    column = "throw" if game == RACE else "throw.0"
    told = refusal("evaluate", game, "--policy", str(tmp_path / "before.csv"))
    assert f"has no column '{column}'" in told


def test_pictures_of_boards_can_be_read():
    """Labels have room beside each other, and a throw is named as one."""
    figure = rollwise.solve(ShutTheBox()).plot("policy")
    shown = figure.layout.xaxis.tickvals
    assert 3 < len(shown) < 40
    assert len(set(figure.layout.xaxis.categoryarray)) > 400
    assert shown[0] == "6"
    assert figure.layout.xaxis.ticktext[0] == "1 2"  # the tiles of this set
    assert figure.data[1].hovertext[-1, -1].startswith("open 1 2 3 4 5 6 7 8 9, dice 2, throw 12")
    figure = rollwise.solve(CantStop()).plot("policy")
    titles = [trace.name for trace in figure.data if trace.type == "heatmap"]
    assert "throw = 1 1 1 2" in titles
    assert "turn.0 = 1, throw = 1 1 2 2" in titles
    with pytest.raises(UsageError, match="a surface needs three fields"):
        rollwise.solve(ShutTheBox()).plot("surface")


def test_a_report_names_the_most_frequent_moves_only(tmp_path):
    rollwise.solve(ShutTheBox()).report(tmp_path / "box.html")
    page = (tmp_path / "box.html").read_text(encoding="utf-8")
    listed = page[page.index("How often each move is the best one") :].split("</table>")[0]
    assert listed.count("<tr>") == 32  # a head, 30 moves, and all others
    assert re.search(r"<td class='act'>\d+ others</td>", listed)


@pytest.mark.parametrize("seat", ["first", "second", "either"])
def test_environments_throw_by_themselves(seat):
    """Each step is a choice, and what was thrown is a part of what is seen."""
    from gymnasium.utils.env_checker import check_env

    from rollwise.environments.single import GameEnv

    env = GameEnv(Runners(3), opponent="run-in-front", seat=seat, render_mode="ansi")
    check_env(env, skip_render_check=True)
    assert env.action_names == ("back", "front", "wait")
    assert env.observation_space.low[-1] <= 0 <= 3 <= env.observation_space.high[-1]
    fallen = set()
    for seed in range(20):
        seen, about = env.reset(seed=seed)
        over = False
        while not over:
            assert env.observation_space.contains(seen)
            fallen.add(int(seen[-1]))
            assert env.graph.view[about["state"]].throw == (seen[-1],)
            assert f"thrown: {seen[-1]}" in env.render()
            assert (seen[-1] == 0) == bool(about["action_mask"][2])  # nothing else to do
            seen, _, over, _, about = env.step(int(np.flatnonzero(about["action_mask"])[0]))
    assert fallen == {0, 1, 2, 3}


@pytest.mark.parametrize(("game", "seat"), [(Runners(3), "second"), (OrderedDice(), "first")])
def test_what_agents_get_is_what_the_game_is_worth(game, seat):
    """Summed over the exact transitions, and played thousands of times."""
    from rollwise.environments import mean_reward
    from rollwise.environments.single import GameEnv
    from rollwise.environments.vector import GameVectorEnv

    env = GameEnv(game, seat=seat)
    solution = rollwise.solve(game)
    values = np.zeros(len(env.P))
    for _ in range(200):
        before = values.copy()
        for s in range(len(env.P) - 1):
            values[s] = max(
                sum(p * (reward + values[t]) for p, t, reward, _ in rows)
                for rank, rows in env.P[s].items()
                if env.arena.action_of[s, rank] >= 0
            )
        if np.abs(values - before).max() < 1e-13:
            break
    worth = solution.value if seat == "first" else -solution.value
    assert env.initial_state_distrib @ values == pytest.approx(worth, abs=1e-9)
    assert mean_reward(env).value == pytest.approx(worth, abs=1e-9)

    many = GameVectorEnv(game, num_envs=3000, seat=seat)
    _, about = many.reset(seed=5)
    total, over = np.zeros(3000), np.zeros(3000, np.bool_)
    chances = np.append(solution.policy.probability, np.ones(len(env.arena.early_payoffs)))
    best = (np.where(env.arena.action_of >= 0, chances[env.arena.action_of], 0)).argmax(axis=1)
    while not over.all():
        _, reward, ended, _, about = many.step(np.where(over, 0, best[about["state"]]))
        total += np.where(over, 0.0, reward)
        over |= ended
    assert abs(total.mean() - worth) < 5 * total.std() / np.sqrt(3000)


def test_two_agents_throw_by_themselves():
    from pettingzoo.test import api_test

    from rollwise.environments.aec import GameAECEnv, env

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(env(Runners(3)), num_cycles=100)
    made = GameAECEnv(Runners(3), render_mode="ansi")
    made.reset(seed=1)
    assert made.action_names == ("back", "front", "wait")
    for agent in made.agent_iter(2_000):
        seen, _, over, _, _ = made.last()
        if not over:
            assert seen["observation"][-1] >= 0
            assert f"{agent} to move" in made.render()
            assert "thrown: " in made.render()
        made.step(None if over else int(seen["action_mask"].argmax()))
    assert not made.agents


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
