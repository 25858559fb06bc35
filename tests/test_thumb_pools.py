"""Rules of thumb of games with a pool of dice, scored turn by turn: in Yatzy with few boxes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runner import output, refusal

from rollwise.analysis.thumb.turn_search import find_turn_rules
from rollwise.analysis.thumb.turns import one_position, worth_by_layers
from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import Policies
from rollwise.answer.solve_by_layers import solve_by_layers
from rollwise.games.yatzy import Yatzy
from rollwise.simulate.turn_by_turn import simulate_large
from rollwise.thumb.features import Features
from rollwise.thumb.language import Rule


def test_turns_with_a_pool_are_scored_without_a_graph():
    """What a rule is worth turn by turn is what the graph says, whatever it looks at."""
    game = Yatzy(boxes=2)
    policies = Policies.of(game)
    documents = [
        [{"most": ["number"]}],
        [{"if": "rolls_left >= 1", "most": ["3*alike + above - total"]}, {"most": ["points"]}],
        [
            {"if": "rolls_left >= 2", "most": ["number - 2*points_above + left*above", "total"]},
            {"if": "left <= 1", "most": ["left*short - made"]},
            {"if": "upper >= 6", "do": "threes"},
            {"if": "rolls_left <= 0", "most": ["beyond - 2*ones", "points"]},
            {"most": ["above"]},
        ],
    ]
    rules = [Rule.read({"rule": rule}, policies.graph, game) for rule in documents]
    found = worth_by_layers(game, rules)
    for rule, (worth, bound) in zip(rules, found, strict=True):
        known = evaluate(policies, rule.policy(policies.graph, game), starts=[0])
        assert worth == pytest.approx(known.values[0], abs=bound + known.bounds[0])
        assert bound < 1e-11
    assert len({round(worth, 6) for worth, _ in found}) == 3


def test_rules_are_found_turn_by_turn(tmp_path):
    """Each is certified, and what is found loses little: by the graph, and by games."""
    game = Yatzy(boxes=3)
    answer = solve_by_layers(game)
    found, graph = find_turn_rules(game, answer, 6, evaluations=300)
    again, _ = find_turn_rules(game, answer, 6, evaluations=300)
    assert [rule.rule for rule in found.rules] == [rule.rule for rule in again.rules]
    losses = [rule.loss for rule in found.rules]
    assert losses == sorted(losses, reverse=True)
    assert [rule.numbers for rule in found.rules] == sorted(rule.numbers for rule in found.rules)
    assert losses[-1] < 0.6
    policies = Policies.of(game)
    last = found.rules[-1]
    assert last.numbers <= 6
    assert found.scored > 100
    known = evaluate(policies, last.rule.policy(policies.graph, game), starts=[0])
    assert answer.value - last.loss == pytest.approx(known.values[0], abs=1e-10)
    path = tmp_path / "rule.json"
    path.write_text(json.dumps(last.rule.document(graph)))
    match = simulate_large(game, str(path), games=2000, seed=1, answer=lambda: answer)
    score = match.sides[0].score
    assert abs(score.mean - known.values[0]) < 5 * score.standard_error


def rule_on_the_page():
    """The rule of Yatzy that docs/thumb.md shows."""
    page = (Path(__file__).parents[1] / "docs" / "thumb.md").read_text(encoding="utf-8")
    block = page.split("<!-- file: yatzy_rule.json -->")[1].split("```json\n")[1].split("```")[0]
    game = Yatzy()
    graph = one_position(game)
    features = Features(graph, game, constant=True)
    return Rule.read(json.loads(block), graph, game, features), page


def test_the_rule_on_the_page_is_counted():
    rule, page = rule_on_the_page()
    assert f"This rule of {rule.numbers} integers scores 241.04" in page
    assert rule.numbers <= 30


@pytest.mark.large
def test_the_rule_on_the_page_scores_what_is_said():
    rule, _ = rule_on_the_page()
    ((worth, bound),) = worth_by_layers(Yatzy(), [rule])
    assert worth == pytest.approx(241.04374657578273, abs=1e-9 + bound)  # by a loop of another make


@pytest.mark.large
def test_large_games_with_a_pool(tmp_path):
    asked = "thumb yatzy boxes=8 --numbers 6 --evaluations 500 --json --save six.json"
    document = json.loads(output(*asked.split(), cwd=tmp_path))
    last = document["rules"][-1]
    assert last["loss"] < 10
    assert last["error_bound"] < 1e-10
    worth = json.loads(
        output("evaluate", "yatzy", "boxes=8", "--policy", "six.json", "--json", cwd=tmp_path)
    )
    best = solve_by_layers(Yatzy(boxes=8)).value
    assert best - worth["value"] == pytest.approx(last["loss"], abs=1e-9)
    said = refusal("evaluate", "yatzy", "boxes=8", "--policy", str(tmp_path / "none.json"))
    assert "there is no file" in said
