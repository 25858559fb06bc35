"""Policies by what is typed for them: each kind, and the game solved once."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from cli_runner import output

from rollwise import Chase, Duel, build
from rollwise.answer.references import Policies, names_in
from rollwise.games.pig import Pig
from rollwise.games.threes import Threes

GAME = Pig(target=10)


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
    assert solved.count(build(GAME).content_hash) == times


def test_mixtures_draw_their_parts():
    policies = Policies.of(GAME)
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


def test_a_list_of_policies_with_a_comma_in_the_name_of_a_file(tmp_path):
    file = str(tmp_path / "a,b.csv")
    output("table", "pig", "target=10", "--out", file)
    assert names_in(f"optimal, {file},random") == ["optimal", file, "random"]
    entered = ("--policies", f"{file},random")
    assert file.split("/")[-1] in output("tournament", "pig", "target=10", *entered)
