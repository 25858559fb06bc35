"""Rules of thumb: what they are worth, and the search for them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from cli_runner import output
from hypothesis import given, settings
from hypothesis import strategies as st
from stalling_games import Trap

from rollwise.analysis.thumb.clauses import OnGraph
from rollwise.analysis.thumb.frontier import certified_rule, find_rules
from rollwise.analysis.thumb.score import Setting
from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.references import Policies
from rollwise.builders import build
from rollwise.errors import PolicyError, UsageError
from rollwise.games.craps import Craps
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.games.pig import Pig, TwoDicePig
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.graph.policies import Policy
from rollwise.thumb.language import Clause, Condition, Rule
from rollwise.thumb.sentences import sentence_of

GAMES = {
    "pig": Pig(target=50),
    "two-dice-pig": TwoDicePig(target=15),
    "super-six": SuperSix(sticks=7),
    "threes": Threes(dice=3),
    "blackjack": DiceBlackjack(low=8, high=10, dice=3),
    "hare": HareAndTortoise(),
}
KNOWN = {name: Policies.of(game) for name, game in GAMES.items()}
FIELDS: dict[str, OnGraph] = {}
PIG = Pig(target=20)
KEEP_PACE = {
    "rule": [{"if": "max(banked, rival) >= 71", "do": "roll"},
        {"if": "8*turn + banked - rival >= 164", "do": "hold"}, {"do": "roll"}],
}  # fmt: skip


def field_of(name: str) -> OnGraph:
    if name not in FIELDS:
        FIELDS[name] = OnGraph(Setting.of(KNOWN[name]))
    return FIELDS[name]


def any_rule(name: str, seed: int) -> tuple[OnGraph, Rule]:
    """A rule made at random."""
    random, field = np.random.default_rng(seed), field_of(name)
    labels, clauses = list(field.scorer.labels), []
    for _ in range(random.integers(0, 4)):
        form = field.forms[random.integers(len(field.forms))]
        bound = int(random.choice(form.values(field.scorer.columns)))
        condition = Condition(form, bool(random.integers(2)), bound)
        clauses.append(Clause(condition, labels[random.integers(len(labels))]))
    return field, Rule((*clauses, Clause(None, labels[random.integers(len(labels))])))


def loss_of(policies: Policies, policy: Policy) -> float:
    """What a policy loses against the optimal one, by the certified evaluation."""
    graph, best = policies.graph, policies.solution.value
    if graph.players == 1:
        found = evaluate(policies, policy, starts=[0]).values[0]
        points = best - found if graph.objective == "maximize" else found - best
        return float(points if graph.is_score else points / 2)
    found = evaluate(policies, policy, "optimal", starts=[0])
    return -float(found.values[0] + found.values_second[0]) / 4


@pytest.mark.parametrize("name", KNOWN)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=12, deadline=None)
def test_a_score_is_what_the_certified_evaluation_finds(name, seed):
    field, rule = any_rule(name, seed)
    policy, scored = rule.policy(KNOWN[name].graph), field.loss(rule)
    assert scored == pytest.approx(loss_of(KNOWN[name], policy), abs=1e-8)


@pytest.mark.parametrize("name", KNOWN)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=8, deadline=None)
def test_a_loss_is_regret_where_play_comes_by(name, seed):
    field, rule = any_rule(name, seed)
    scorer, taken = field.scorer, field.taken(rule)
    regret = -scorer.optimal_advantages[taken]
    lost = (scorer.visits(taken) * regret).sum()
    assert lost == pytest.approx(scorer.loss(taken), rel=0.02, abs=1e-6)


@pytest.mark.parametrize("name", KNOWN)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=8, deadline=None)
def test_a_rule_is_read_as_it_was_written(name, seed):
    (_, rule), graph = any_rule(name, seed), KNOWN[name].graph
    again = Rule.read(json.loads(json.dumps(rule.document(graph))), graph)
    assert again == rule
    assert np.array_equal(again.policy(graph).probability, rule.policy(graph).probability)
    assert sentence_of(rule, graph).endswith(".")


def test_the_first_clause_that_holds_is_taken():
    graph = build(Pig(target=100))
    rule = Rule.read(KEEP_PACE, graph)
    assert rule.numbers == 3
    roll, hold = 0, 1
    policy = rule.policy(graph)
    for state in graph.view:
        banked, rival, turn = state.fields
        wanted = hold if max(banked, rival) < 71 and 8 * turn + banked - rival >= 164 else roll
        taken = [a for a in state.actions if policy.probability[a]]
        assert [action.label for action in taken] == [wanted if turn else roll]


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "is a list of clauses"),
        ({"rule": []}, "is a list of clauses"),
        ({"rule": [3]}, "clause 1 must be"),
        ({"rule": [{"if": "turn >= 2"}]}, "clause 1 must be"),
        ({"rule": [{"do": "rol"}]}, "did you mean roll"),
        ({"rule": [{"if": "turns >= 2", "do": "hold"}]}, "did you mean turn"),
        ({"rule": [{"if": "turn >= ", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"if": "turn == 2", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"if": "turn >= 2.5", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"if": "turn*banked*rival >= 2", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"if": "turn - turn >= 2", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"if": "__import__('os') >= 2", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"most": "turn"}]}, "no feature is called 'turn'"),
        ({"rule": [{"most": []}]}, "isn't a list of preferences"),
        ({"rule": [{"most": ["number"], "do": "roll"}]}, "clause 1 must be"),
        ({"rule": [{"if": 7, "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"if": f"turn >= {450 * '-'}1", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"if": f"{450 * '-'}turn >= 1", "do": "hold"}]}, "isn't a condition"),
    ],
)
def test_what_is_no_rule_is_refused(document, says, tmp_path):
    graph = build(PIG)
    with pytest.raises(PolicyError, match=says):
        Rule.read(document, graph)
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(document))
    with pytest.raises(PolicyError, match=r"mine\.json.*" + says):
        Policies.of(PIG).find(str(path))


def test_the_same_seed_finds_the_same_rules():
    first, again = (find_rules(KNOWN["pig"], 3, evaluations=400, seed=5) for _ in range(2))
    assert first == again
    assert [rule.numbers for rule in first.rules] == sorted({r.numbers for r in first.rules})
    losses = [rule.loss for rule in first.rules]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("name", ["pig", "threes", "blackjack", "super-six"])
def test_what_a_rule_costs_is_certified(name):
    policies = KNOWN[name]
    found = find_rules(policies, 2, evaluations=150)
    assert found.rules
    for rule in found.rules:
        policy = rule.rule.policy(policies.graph)
        assert abs(rule.loss - loss_of(policies, policy)) <= rule.error_bound
        if policies.graph.players == 2:
            response = best_response(policies, policy, starts=[0]).exploitability()
            assert rule.exploitability == pytest.approx(response, abs=1e-12)
            # the best response wins at least what optimal play does
            assert rule.exploitability / 2 >= rule.loss - rule.error_bound
        else:
            assert rule.loss_second is None
            assert rule.exploitability is None


def test_rules_that_end_where_play_comes_to_are_rules():
    """In the trap, which is never come to, there is nothing but to rest for ever."""
    found = find_rules(Trap(), 2, evaluations=50)
    assert [(rule.text, rule.loss) for rule in found.rules] == [("Always leave.", 0.0)]


def test_super_six_has_a_rule_of_four_integers_that_loses_nothing():
    """The rule of docs/thumb.md: with 3 sticks in the lid, (mine - 1) * (theirs - 1) counts."""
    page = (Path(__file__).parents[1] / "docs" / "thumb.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```json\n(.*?)```", page, re.S)
    written = next(json.loads(block) for block in blocks if "mine*theirs" in block)
    game = SuperSix(sticks=40)
    policies = Policies.of(game)
    found = certified_rule(policies, Rule.read(written, policies.graph, game))
    assert found.numbers == 4
    assert abs(found.loss) <= found.error_bound < 1e-12
    assert abs(found.exploitability) <= found.exploitability_bound < 1e-12


def test_wrong_use():
    with pytest.raises(UsageError, match="no choices"):
        find_rules(Craps())
    wrongs = ({"numbers": 0}, {"evaluations": 0}, {"seconds": 0}, {"within": -1.0}, {"searches": 0})
    for wrong in wrongs:
        with pytest.raises(UsageError, match=next(iter(wrong))):
            find_rules(PIG, **wrong)


def test_the_command(tmp_path, monkeypatch):
    asked = "thumb pig target=50 --numbers 2 --evaluations 200 --json --save two.json"
    document = json.loads(output(*asked.split(), cwd=tmp_path))
    last = document["rules"][-1]
    assert json.loads((tmp_path / "two.json").read_text()) == last["policy"]
    asked = "evaluate pig target=50 --policy two.json --against optimal --json"
    worth = json.loads(output(*asked.split(), cwd=tmp_path))
    mean = (worth["win_probability"] + worth["win_probability_second"]) / 2
    assert 0.5 - mean == pytest.approx(last["loss"], abs=1e-9)
    text = output("thumb", "threes", "dice=2", "--evaluations", "50", cwd=tmp_path)
    assert "losses against optimal play in points (certified ±" in text
    assert "time ended the search" not in text
    monkeypatch.setattr("rollwise.cli.commands.thumb.SECONDS", 0.001)
    text = output("thumb", "threes", "dice=2", cwd=tmp_path)
    assert "time ended the search, so the same seed may find other rules" in text


@pytest.mark.large
def test_pig_has_rules_better_than_those_that_are_known():
    """Keep pace and end race (Neller and Presser 2010) loses 0.461 points with three integers."""
    found = find_rules(Pig(), 5, evaluations=3000)
    loss = {rule.numbers: rule.loss for rule in found.rules}
    assert loss[3] <= 0.00461
    assert loss[4] <= 0.00363
    assert loss[5] <= 0.00297
