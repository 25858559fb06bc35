"""Policies from functions, from names and from files: each kind, and the game solved once."""

from __future__ import annotations

import re
import sys
from functools import partial

import numpy as np
import polars as pl
import pytest
from cli_runner import output
from throwing import Runners

from rollwise import Chase, Duel, Policy, best_response, build, evaluate, solve
from rollwise.answer.references import Policies, names_in, policy_table
from rollwise.errors import PolicyError
from rollwise.games.chicago import Chicago
from rollwise.games.pig import HOLD, ROLL, Pig
from rollwise.games.threes import Threes
from rollwise.graph import StateGraph
from rollwise.simulate import simulate, tournament

GAME = Pig(8)


@pytest.fixture(scope="module")
def graph() -> StateGraph:
    return build(GAME, mode="interpreted")


def chosen(graph: StateGraph, policy: Policy) -> list[int]:
    """The action of each state under a policy that doesn't mix."""
    assert set(policy.probability.tolist()) <= {0.0, 1.0}
    taken = np.flatnonzero(policy.probability)
    assert graph.action_state[taken].tolist() == list(range(graph.n_states))
    return graph.action_label[taken].tolist()


def test_of_function_that_mixes(graph):
    policy = Policy.of_function(graph, GAME, "mix", lambda s: {ROLL: 1, HOLD: 3})
    for s in range(graph.n_states):
        begin, end = graph.action_indptr[s : s + 2]
        expected = [1.0] if end - begin == 1 else [0.25, 0.75]
        assert policy.probability[begin:end].tolist() == expected


def test_a_function_is_not_asked_where_there_is_no_choice(graph):
    asked = []

    def roll(s):
        asked.append(s.turn)
        return ROLL

    Policy.of_function(graph, GAME, "roll", roll)
    assert asked
    assert min(asked) > 0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (2, "gives 2"),
        (-1, "gives -1"),
        ({ROLL: -1.0, HOLD: 2.0}, "gives roll"),
        ({ROLL: 0.0}, "gives roll"),
        ({ROLL: float("inf")}, "gives roll"),
        ({ROLL: float("nan")}, "gives roll"),
        (0.5, "TypeError"),
        (None, "it gives None; a policy gives the number of an action: 0 for roll, 1 for hold"),
        ("hold", "it gives 'hold'; a policy"),
    ],
    ids=str,
)
def test_functions_that_go_wrong(graph, answer, said):
    with pytest.raises(PolicyError) as caught:
        Policy.of_function(graph, GAME, "odd", lambda s: answer)
    message = str(caught.value)
    assert message.startswith("pig: the policy odd ")
    assert said in message
    assert "turn=" in message


def test_by_name(graph):
    named = Policies(graph, GAME).find("hold-at-20")
    assert named.name == "hold-at-20"
    assert chosen(graph, named) == [ROLL] * graph.n_states
    large = build(Pig(24), mode="interpreted")
    turn = large.states[:, 2]
    policy = Policies(large, Pig(24)).find("hold-at-20")
    assert chosen(large, policy) == np.where(turn >= 20, HOLD, ROLL).tolist()
    assert np.array_equal(
        Policies(graph, GAME).find("random").probability, Policy.uniform(graph).probability
    )


def table_of(graph: StateGraph, actions: list, **more: list) -> pl.DataFrame:
    columns = {name: graph.states[:, k] for k, name in enumerate(graph.field_names)}
    return pl.DataFrame({**columns, "action": actions, **more})


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("by_name", [True, False])
def test_from_a_file(graph, tmp_path, suffix, by_name):
    labels = np.where(graph.states[:, 2] >= 3, HOLD, ROLL).tolist()
    frame = table_of(graph, [graph.action_names[a] for a in labels] if by_name else labels)
    frame = frame.sample(fraction=1.0, shuffle=True, seed=1)  # rows in any order
    path = tmp_path / f"mine{suffix}"
    frame.write_csv(path) if suffix == ".csv" else frame.write_parquet(path)
    policies = Policies(graph, GAME)
    assert policies.find(path).name == f"mine{suffix}"
    for given in (path, str(path), frame):
        assert chosen(graph, policies.find(given)) == labels


def test_the_table_of_an_answer_is_a_policy_and_a_fault_in_it_is_told():
    for game in (GAME, Chicago(dice=2)):
        solution = solve(game)
        table = solution.table(throws=game.has_throws)
        assert solution.value == evaluate(solution, table).values[0]
        with pytest.raises(PolicyError, match="the table has no column 'action'"):
            evaluate(solution, table.drop("action"))


def test_a_file_may_mix_and_may_leave_out_states_without_a_choice(graph, tmp_path):
    free = np.flatnonzero(graph.states[:, 2] > 0)
    rows = [
        {**dict(zip(graph.field_names, graph.states[s].tolist(), strict=True)), **answer}
        for s in free
        for answer in (
            {"action": "roll", "probability": 0.25},
            {"action": "hold", "probability": 0.75},
        )
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "mix.csv")
    policy = Policies(graph, GAME).find(str(tmp_path / "mix.csv"))
    for s in range(graph.n_states):
        begin, end = graph.action_indptr[s : s + 2]
        expected = [0.25, 0.75] if end - begin == 2 else [1.0]
        assert policy.probability[begin:end].tolist() == pytest.approx(expected)


def refusal(graph: StateGraph, path) -> str:
    with pytest.raises(PolicyError) as caught:
        Policies(graph, GAME).find(str(path))
    return str(caught.value)


def test_two_rows_of_a_state_contradict_each_other(graph, tmp_path):
    path, first = tmp_path / "mine.csv", graph.states[2].tolist()
    own = dict(zip(graph.field_names, first, strict=True))
    whole = table_of(graph, ["roll"] * graph.n_states)
    for action in ("hold", "roll"):
        pl.concat(
            [whole, pl.DataFrame([{**own, "action": action}])], how="vertical_relaxed"
        ).write_csv(path)
        said = refusal(graph, path)
        assert f"mine.csv, rows 3 and {graph.n_states + 1}: both give an action in" in said
        assert f"{graph.view[2]}; leave one out, or add a column probability" in said
    sure = whole.with_columns(probability=1.0)
    again = pl.DataFrame([{**own, "action": "roll", "probability": 0.0}])
    pl.concat([sure, again], how="vertical_relaxed").write_csv(path)
    assert f"rows 3 and {graph.n_states + 1}: both give roll a probability" in refusal(graph, path)


def test_a_row_of_no_state_is_refused(graph, tmp_path):
    path, whole = tmp_path / "mine.csv", table_of(graph, ["roll"] * graph.n_states)
    wide = dict.fromkeys(graph.field_names, 99)
    pl.concat(
        [whole, pl.DataFrame([{**wide, "action": "roll"}])], how="vertical_relaxed"
    ).write_csv(path)
    said = refusal(graph, path)
    assert f"mine.csv, row {graph.n_states + 1}: pig target=8" in said
    assert "has no state banked=99, rival=99, turn=99" in said


def test_a_table_may_have_all_combinations_of_the_fields(graph, tmp_path):
    path, whole = tmp_path / "mine.csv", table_of(graph, ["roll"] * graph.n_states)
    never = {"banked": 0, "rival": 0, "turn": 1, "action": "hold"}  # no roll brings 1 point
    assert (0, 0, 1) not in {state.fields for state in graph.view}
    pl.concat([whole, pl.DataFrame([never])], how="vertical_relaxed").write_csv(path)
    assert Policies(graph).find(str(path)).probability.sum() == graph.n_states


@pytest.mark.parametrize(
    ("roll", "hold", "fits"),
    [
        (0.5, 0.4, False),
        (0.5, 0.49, False),
        (0.5, 0.6, False),
        (0.0, 0.0, False),
        (0.67, 0.34, False),
        (0.333, 0.666, False),
        (0.333, 0.668, False),
        (0.5, 0.5, True),
        (1 / 3, 2 / 3, True),
        (1e-9, 1.0, True),
    ],
)
def test_probabilities_of_a_file_add_up_to_1_but_for_their_digits(
    graph, tmp_path, roll, hold, fits
):
    path, rows = tmp_path / "mine.csv", []
    for s in np.flatnonzero(graph.states[:, 2] > 0):
        own = dict(zip(graph.field_names, graph.states[s].tolist(), strict=True))
        rows += [
            {**own, "action": "roll", "probability": roll},
            {**own, "action": "hold", "probability": hold},
        ]
    pl.DataFrame(rows).write_csv(path)
    if not fits:
        said = refusal(graph, path)
        assert f"row 1: the probabilities add up to {roll + hold:.12g} in the state" in said
        return
    given = Policies(graph, GAME).find(str(path)).probability[graph.action_indptr[1] :][:2]
    assert given.tolist() == pytest.approx([roll / (roll + hold), hold / (roll + hold)])


def test_what_is_written_is_read_again(tmp_path):
    """A mixture, in a game with throws, with the digits that are written."""
    policies, path = Policies.of(Runners()), tmp_path / "mine.csv"
    for reference in ("random", "0.333*optimal+0.667*random"):
        policy = policies.find(reference)
        policy_table(policies.graph, policy).write_csv(path)
        assert np.allclose(policies.find(str(path)).probability, policy.probability, atol=1e-15)


@pytest.mark.parametrize(
    ("mixture", "said"),
    [
        ("0.5*random+0.6*optimal", "add up to 1.1; .* as in 0.4545.random.0.5455.optimal"),
        (
            "1*random+0.5*optimal",
            "add up to 1.5; they must add up to 1, or be whole numbers, as in",
        ),
        ("0*random+0*optimal", "add up to 0; they must add up to 1, or be whole numbers"),
    ],
)
def test_the_weights_of_a_mixture_add_up_to_1(graph, mixture, said):
    message = refusal(graph, mixture)
    assert re.match(f"pig target=8.* {said}", message)


def test_a_mixture_in_printed_digits(graph):
    thirds = Policies(graph, GAME).find("0.33*random+0.33*hold-at-20+0.33*optimal")
    assert thirds.probability[0] == pytest.approx(1.0)


def test_files_that_go_wrong(graph, tmp_path):
    def error_of(name: str) -> str:
        with pytest.raises(PolicyError) as caught:
            Policies(graph, GAME).find(str(tmp_path / name))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "there is no file" in error_of("nowhere.csv")
    (tmp_path / "broken.parquet").write_bytes(b"not a table")
    assert "can't be read as a table" in error_of("broken.parquet")
    whole = table_of(graph, ["roll"] * graph.n_states)
    whole.drop("rival").write_csv(tmp_path / "short.csv")
    assert "no column 'rival'" in error_of("short.csv")
    whole.filter(pl.col("turn") != 3).write_csv(tmp_path / "holes.csv")
    assert "no row for the state" in error_of("holes.csv")
    assert "turn=3" in error_of("holes.csv")
    table_of(graph, ["leap"] * graph.n_states).write_csv(tmp_path / "leap.csv")
    assert "row 1: no action is called 'leap'" in error_of("leap.csv")
    table_of(graph, ["hold"] * graph.n_states).write_csv(tmp_path / "hold.csv")
    assert "in the state banked=0, rival=0, turn=0: 'hold' can't be done here" in error_of(
        "hold.csv"
    )
    states = np.flatnonzero(graph.states[:, 2] > 0)
    minus = pl.concat(
        [
            table_of(graph, [action] * graph.n_states, probability=[weight] * graph.n_states)
            for action, weight in (("roll", -1.0), ("hold", 3.0))
        ]
    ).filter(pl.col("turn") > 0)
    assert len(minus) == 2 * len(states)
    minus.write_parquet(tmp_path / "minus.parquet")
    assert "gives roll the probability -1.0 in the state" in error_of("minus.parquet")


LARGER = Pig(target=10)


@pytest.fixture
def solved(monkeypatch):
    """The graphs that are solved from now on, by their hash."""
    from rollwise.answer import certified, evaluation, kept  # noqa: F401

    found = []
    plain = certified.solve_and_certify

    def counted(graph, **options):
        found.append(graph.content_hash)
        return plain(graph, **options)

    for name, module in list(sys.modules.items()):
        if name.startswith("rollwise.") and hasattr(module, "solve_and_certify"):
            monkeypatch.setattr(module, "solve_and_certify", counted)
    return found


@pytest.mark.parametrize(
    ("command", "times"),
    [
        ("evaluate pig target=10 --policy 0.9*optimal+0.1*hold-at-20 --against optimal", 1),
        ("evaluate pig target=10 --policy hold-at-20 --against random", 0),
        ("respond pig target=10 --to optimal", 1),
        ("simulate pig target=10 --policy optimal --against 0.5*optimal+0.5*random --games 9", 1),
        ("tournament pig target=10 --policies optimal,0.9*optimal+0.1*random,random", 1),
        ("learn pig target=10 --games 50 --seed 1 --compare", 1),
    ],
)
def test_a_command_solves_a_game_at_most_once(solved, command, times):
    output(*command.split())
    assert solved.count(build(LARGER).content_hash) == times


def test_mixtures_draw_their_parts():
    policies = Policies.of(LARGER)
    mixed = policies.find("3*optimal + 1*random")
    best, random = policies.find("optimal"), policies.find("random")
    assert mixed.name == "3*optimal + 1*random"
    assert np.allclose(mixed.probability, 0.75 * best.probability + 0.25 * random.probability)
    assert mixed.tied is best.tied


@pytest.mark.parametrize(
    "game", [Chase(Threes(dice=2), 4), Duel(Threes(dice=2))], ids=lambda game: game.name
)
def test_derived_games_have_the_policies_of_the_inner_game(game):
    policies = Policies.of(game)
    blind = policies.find("0.5*take-one+0.5*random")
    for s, fields in enumerate(policies.graph.states.tolist()):
        part = slice(*policies.graph.action_indptr[s : s + 2])
        state = type(game.inner.start())(*fields[: len(game.inner.start())])
        named = game.inner.policies()["take-one"](game.inner, state)
        labels = policies.graph.action_label[part]
        expected = 0.5 * (labels == named) + 0.5 / len(labels)
        assert np.allclose(blind.probability[part], expected)


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (
            np.nan,
            "gives roll the probability nan in the state banked=0, rival=0, turn=0; it must be",
        ),
        (-0.5, "gives roll the probability -0.5 in the state banked=0, rival=0, turn=0"),
        (
            0.0,
            "add up to 0 in the state banked=0, rival=0, turn=0, where the actions are roll; they",
        ),
        (0.1, "add up to 0.1 in the state .* up to 1: divide them by their sum"),
        (1.0, "add up to 2 in the state .*, where the actions are roll, hold; they must add up"),
    ],
    ids=str,
)
def test_an_object_that_is_no_distribution_is_refused(graph, chance, said):
    wrong = Policy("mine", np.full(graph.n_actions, chance))
    policies = Policies(graph, GAME)
    asked = (
        policies.find,
        partial(evaluate, policies),
        partial(simulate, policies, games=2),
        lambda policy: tournament(policies, ["random", policy]),
        partial(best_response, policies),
    )
    for ask in asked:
        with pytest.raises(PolicyError, match=f"^pig target=8 .*mine.*{said}"):
            ask(wrong)


def test_an_object_may_be_rounded_to_32_bits(graph):
    halves = Policy.uniform(graph).probability.astype(np.float32)
    assert Policies(graph, GAME).find(Policy("halves", halves)).probability.dtype == np.float64


@pytest.mark.parametrize(
    ("probability", "said"), [(["a"], "are no numbers"), ([[1.0]], "an array"), (3, "an array")]
)
def test_an_object_without_an_array_of_numbers_is_refused(graph, probability, said):
    with pytest.raises(PolicyError, match=said):
        Policies(graph, GAME).find(Policy("mine", probability))


def test_a_list_of_policies_with_a_comma_in_the_name_of_a_file(tmp_path):
    file = str(tmp_path / "a,b.csv")
    output("table", "pig", "target=10", "--out", file)
    assert names_in(f"optimal, {file},random") == ["optimal", file, "random"]
    entered = ("--policies", f"{file},random")
    assert file.split("/")[-1] in output("tournament", "pig", "target=10", *entered)


def test_a_policy_of_a_game_with_equally_many_states_is_refused():
    game, twin = Pig(10), type("Twin", (Pig,), {"name": "twin"})(10)
    policy = solve(twin).policy
    with pytest.raises(PolicyError, match=r"^pig target=10.*optimal is of another game, twin tar"):
        evaluate(game, policy)
    evaluate(game, Policy("mine", policy.probability))
