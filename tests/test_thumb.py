"""Rules of thumb: what they are worth, and the search for them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output, refusal
from hypothesis import given, settings
from hypothesis import strategies as st
from stalling_games import Place, Trap
from throwing import WAIT, Runners

from rollwise import Game
from rollwise.analysis.thumb.frontier import certified_rule, find_rules
from rollwise.analysis.thumb.score import Scorer, Setting
from rollwise.analysis.thumb.search import Found, Search
from rollwise.analysis.thumb.seats import find_seats_rules
from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.references import Policies
from rollwise.builders import build
from rollwise.cluster.pool import Here
from rollwise.cluster.processes import Processes
from rollwise.documents.design import thumb_document
from rollwise.errors import PolicyError, UsageError
from rollwise.game import AGAIN, END
from rollwise.games.bear_off import TwoSidedBearOff
from rollwise.games.craps import Craps
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.games.hog import Hog
from rollwise.games.pig import Pig, TwoDicePig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.graph.policies import Policy
from rollwise.many.equilibrium import equilibrium
from rollwise.thumb.features import Features
from rollwise.thumb.language import Condition, Feature, Rule
from rollwise.thumb.sentences import python_source, sentence_of

GAMES = {
    "pig": Pig(target=50),
    "two-dice-pig": TwoDicePig(target=15),
    "super-six": SuperSix(sticks=7),
    "threes": Threes(dice=3),
    "blackjack": DiceBlackjack(low=8, high=10, dice=3),
    "hare": HareAndTortoise(),
}
KNOWN = {name: Policies.of(game) for name, game in GAMES.items()}
SCORERS: dict[str, Scorer] = {}
PIG = Pig(target=20)
HOG = Hog(target=12)
KEEP_PACE = {
    "rule": [
        {"if": "max(banked, rival) >= 71", "do": "roll"},
        {"if": "8*turn + banked - rival >= 164", "do": "hold"},
        {"do": "roll"},
    ]
}


def scorer_of(name: str) -> Scorer:
    if name not in SCORERS:
        SCORERS[name] = Scorer(Setting.of(KNOWN[name]))
    return SCORERS[name]


def any_rule(name: str, seed: int) -> tuple[Search, Found]:
    """A rule made at random."""
    random = np.random.default_rng(seed)
    scorer = scorer_of(name)
    search = Search(scorer, 4)
    conditions, actions = [], []
    for _ in range(random.integers(0, 4)):
        form = search._forms[random.integers(len(search._forms))]
        bound = int(random.choice(form.values(scorer.columns)))
        conditions.append(Condition(form, bool(random.integers(2)), bound))
        actions.append(int(random.integers(len(scorer.deeds))))
    actions.append(int(random.integers(len(scorer.deeds))))
    return search, search._made(tuple(conditions), tuple(actions))


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
    search, found = any_rule(name, seed)
    policy = search.rule(found).policy(KNOWN[name].graph)
    scored = search.scorer.loss(search.taken(found)).loss
    assert scored == pytest.approx(loss_of(KNOWN[name], policy), abs=1e-8)


@pytest.mark.parametrize("name", KNOWN)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=8, deadline=None)
def test_a_loss_is_regret_where_play_comes_by(name, seed):
    search, found = any_rule(name, seed)
    scorer, taken = search.scorer, search.taken(found)
    regret = -scorer.optimal_advantages[taken]
    lost = (scorer.visits(taken) * regret).sum()
    assert lost == pytest.approx(scorer.loss(taken).loss, rel=0.02, abs=1e-6)


@pytest.mark.parametrize("name", KNOWN)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=8, deadline=None)
def test_a_rule_is_read_as_it_was_written(name, seed):
    search, found = any_rule(name, seed)
    graph, rule = KNOWN[name].graph, search.rule(found)
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


def test_a_clause_whose_action_cannot_be_taken_is_passed_over():
    graph = build(Threes(dice=2))
    rule = Rule.read({"rule": [{"do": "take 2"}, {"do": "roll"}]}, graph)
    policy = rule.policy(graph)
    for state in graph.view:
        assert policy.probability[list(state.action_range)].sum() == 1.0


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("turn >= 20", 1),
        ("turn >= 0", 1),
        ("banked + turn >= rival", None),
        ("banked + turn - rival >= 0", 1),
        ("8*turn + banked - rival >= 164", 2),
        ("4*turn + banked >= target", 1),
        ("2*banked + 2*turn >= 7", 1),
        ("2*banked + 3*turn - 2*rival < 9", 4),
    ],
)
def test_numbers_to_remember(text, numbers):
    graph = build(PIG)
    document = {"rule": [{"if": text, "do": "hold"}, {"do": "roll"}]}
    if numbers is None:
        with pytest.raises(PolicyError, match="isn't a condition"):
            Rule.read(document, graph)
    else:
        assert Rule.read(document, graph).numbers == numbers


def test_bounds_of_multiples_are_rounded_to_what_they_mean():
    graph = build(PIG)
    for text, same in [
        ("2*banked + 2*turn >= 7", "banked + turn >= 4"),
        ("2*banked + 2*turn > 6", "banked + turn >= 4"),
        ("2*banked + 2*turn <= 7", "banked + turn <= 3"),
        ("2*turn < 6", "turn <= 2"),
        ("-turn <= -3", "-turn <= -3"),
        ("-2*turn - banked <= -3", "-2*turn - banked <= -3"),
        ("2*3*turn*banked - 6*rival > 5", "turn*banked - rival >= 1"),
    ]:
        rule = Rule.read({"rule": [{"if": text, "do": "hold"}, {"do": "roll"}]}, graph)
        assert rule.clauses[0].condition.text == same


def test_in_words():
    graph = build(Pig(target=100))
    assert sentence_of(Rule.read(KEEP_PACE, graph), graph) == (
        "Roll if banked or rival is at least 71. Otherwise hold if 8 × turn + banked − rival is at "
        "least 164. Otherwise roll."
    )
    whole = {"rule": [{"if": "8*turn + banked - rival >= 168", "do": "hold"}, {"do": "roll"}]}
    assert sentence_of(Rule.read(whole, graph), graph) == (
        "Hold if turn is at least 21 plus an eighth of (rival − banked). Otherwise roll."
    )
    less = {"rule": [{"if": "2*rival + banked >= 186", "do": "roll"}, {"do": "hold"}]}
    assert sentence_of(Rule.read(less, graph), graph) == (
        "Roll if rival is at least 93 less half of banked. Otherwise hold."
    )
    half = {"rule": [{"if": "2*rival + banked >= 0", "do": "roll"}, {"do": "hold"}]}
    assert sentence_of(Rule.read(half, graph), graph) == (
        "Roll if 2 × rival + banked is at least 0. Otherwise hold."
    )
    free = {"rule": [{"if": "banked + turn - rival >= 0", "do": "hold"}, {"do": "roll"}]}
    assert sentence_of(Rule.read(free, graph), graph) == (
        "Hold if banked + turn is at least rival. Otherwise roll."
    )
    assert sentence_of(Rule.read({"rule": [{"do": "roll"}]}, graph), graph) == "Always roll."


def test_the_action_that_has_most():
    """Two for each die that is taken, less its points: take the dice of less than two."""
    graph = build(Threes(dice=3))
    rule = Rule.read({"rule": [{"most": ["2*number - points"]}]}, graph)
    assert rule.numbers == 1
    policy = rule.policy(graph)
    for state in graph.view:
        worth = [2 * action.label - action.reward for action in state.actions]
        taken = [action for action in state.actions if policy.probability[action]]
        assert [2 * a.label - a.reward for a in taken] == [max(worth)]
        assert taken[0].index == list(state.actions)[worth.index(max(worth))].index
    assert sentence_of(rule, graph) == (
        "Always take the action with the most of 2 × number − points."
    )


def test_of_several_the_next_form_decides():
    game = RoyalUr(pieces=2)
    graph = build(game)
    document = {"rule": [{"most": ["captures", "again", "number"]}]}
    rule = Rule.read(document, graph, game)
    assert rule.numbers == 3
    assert rule.document(graph)["rule"] == document["rule"]
    policies = Policies.of(game)
    mine = evaluate(policies, rule.policy(graph, game), "optimal", starts=[0])
    theirs = evaluate(policies, "capture-or-run", "optimal", starts=[0])
    assert mine.values[0] == pytest.approx(theirs.values[0], abs=1e-12)


def test_features_of_a_rule_sheet_that_are_no_numbers():
    class Odd(RoyalUr):
        def action_features(self, s, throw, k):
            return {"captures": "yes"}

    with pytest.raises(PolicyError, match="whole number by the name"):
        find_rules(Odd(pieces=2), 1, evaluations=10)


class WithoutThrow(Runners):
    """Two runners, and what people look at, whatever was thrown."""

    def features(self, s):
        return {"ahead": sum(s.mine) - sum(s.theirs)}

    def action_features(self, s, throw, action):
        return {"where": 0 if action == WAIT else s.mine[action]}


def test_features_of_a_game_with_throws_may_leave_the_throw_out():
    game = WithoutThrow()
    graph = build(game)
    document = {"rule": [{"if": "ahead >= 1", "do": "front"}, {"do": "back"}]}
    rule = Rule.read(document, graph, game)
    assert rule.clauses[0].condition.text == "ahead >= 1"
    ahead = Features(graph, game).states["ahead"]
    for state in graph.view:
        if state.is_choice:
            mine, theirs = state.fields[:2], state.fields[2:4]
            assert ahead[state.index] == sum(mine) - sum(theirs)
    assert 'self.features(s)["ahead"] >= 1' in python_source(rule, graph, game, "Ahead.")


@pytest.mark.parametrize("name", ["throw", "max"])
def test_features_have_names_of_their_own(name):
    class Odd(Runners):
        def features(self, s):
            return {name: 1}

    class Named(Runners):
        def action_features(self, s, throw, action):
            return {"again": 1}

    with pytest.raises(PolicyError, match=f"features gives '{name}', which is"):
        _ = Features(build(Odd()), Odd()).states
    with pytest.raises(PolicyError, match="action_features gives 'again', which is there already"):
        _ = Features(build(Named()), Named()).actions


class Once(NamedTuple):
    over: int


@dataclass(frozen=True)
class Fields(Game):
    """Two fields are thrown, each so long and so wide: take the larger one."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self):
        return Once(0)

    def throws(self, s):
        for a, b, c, d in product((1, 2, 3), repeat=4):
            yield 1, (a, b, c, d)

    def actions(self, s, throw):
        yield 0
        yield 1

    def reward(self, s, throw, action):
        return throw[2 * action] * throw[2 * action + 1]

    def outcomes(self, s, throw, action):
        yield 1, END, s


class Measured(Fields):
    def action_features(self, s, throw, action):
        return {"size": throw[2 * action] * throw[2 * action + 1]}


def test_features_of_two_actions_are_looked_at_where_the_rule_sheet_offers_them():
    """The number of a field isn't what it is worth."""
    found = find_rules(Measured(), 1, evaluations=30).rules[-1]
    assert found.text in (
        "Always take the action with the most size.",
        "Always take the action with the most points.",
    )
    assert found.loss == pytest.approx(0, abs=1e-9)
    assert find_rules(Fields(), 1, evaluations=30).rules[-1].loss > 0.01


def test_features_of_states_that_a_rule_sheet_offers():
    game = ShutTheBox(tiles=6, one_die="never")
    graph = build(game)
    rule = Rule.read(
        {"rule": [{"if": "total >= 9", "most": ["highest"]}, {"most": "tiles"}]}, graph, game
    )
    policy = rule.policy(graph, game)
    for state in graph.view:
        if state.is_choice:
            sums = [sum(k for k in range(1, 7) if a.label >> k & 1) for a in state.actions]
            assert len(set(sums)) == 1
            open_tiles = [k for k in range(1, 7) if state.fields[0] >> k & 1]
            taken = next(a for a in state.actions if policy.probability[a]).label
            highest = max(max(k for k in range(1, 7) if a.label >> k & 1) for a in state.actions)
            if sum(open_tiles) >= 9:
                assert taken >> highest & 1
            else:
                assert taken.bit_count() == max(a.label.bit_count() for a in state.actions)


@pytest.mark.parametrize(
    "game", [ShutTheBox(tiles=6, one_die="never"), TwoSidedBearOff(checkers=2), HOG]
)
def test_preferences_are_searched_for(game):
    policies = Policies.of(game)
    found = find_rules(policies, 2, evaluations=60)
    assert found.rules[-1].loss < found.rules[0].loss or len(found.rules) == 1
    for rule in found.rules:
        policy = rule.rule.policy(policies.graph, game)
        assert abs(rule.loss - loss_of(policies, policy)) <= rule.error_bound


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "is a list of clauses"),
        ({"rule": []}, "is a list of clauses"),
        ({"rule": [3]}, "clause 1 must be"),
        ({"rule": [{"if": "turn >= 2"}]}, "clause 1 must be"),
        ({"rule": [{"do": "rol"}]}, "did you mean 'roll'"),
        ({"rule": [{"if": "turns >= 2", "do": "hold"}]}, "did you mean 'turn'"),
        ({"rule": [{"if": "turn >= ", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"if": "turn == 2", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"if": "turn >= 2.5", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"if": "turn*banked*rival >= 2", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"if": "turn - turn >= 2", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"if": "__import__('os') >= 2", "do": "hold"}]}, "isn't a condition"),
        ({"rule": [{"most": "turn"}]}, "no feature is called 'turn'"),
        ({"rule": [{"most": []}]}, "isn't a list of what to prefer"),
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


def test_files_that_are_no_rules(tmp_path):
    policies = Policies.of(PIG)
    with pytest.raises(PolicyError, match="there is no file"):
        policies.find(str(tmp_path / "nothing.json"))
    path = tmp_path / "deep.json"
    path.write_text('{"rule":' + 100_000 * "[")
    with pytest.raises(PolicyError, match="can't be read as a rule of thumb"):
        policies.find(str(path))
    path = tmp_path / "torn.json"
    path.write_bytes(b"\xff{")
    with pytest.raises(PolicyError, match="can't be read as a rule of thumb"):
        policies.find(str(path))


def test_the_same_seed_finds_the_same_rules():
    first, again = (find_rules(KNOWN["pig"], 3, evaluations=400, seed=5) for _ in range(2))
    assert first == again
    assert [rule.numbers for rule in first.rules] == sorted({r.numbers for r in first.rules})
    losses = [rule.loss for rule in first.rules]
    assert losses == sorted(losses, reverse=True)


def test_several_searches_find_the_same_wherever_they_search():
    """In games for two, for one, and for three or more; the first search is that of the seed."""
    seats = equilibrium(Pig(players=3, target=3))
    for find, subject in (
        (find_rules, KNOWN["blackjack"]),
        (find_rules, KNOWN["threes"]),
        (find_seats_rules, seats),
    ):
        asked = {"numbers": 2, "evaluations": 60, "seed": 4}
        one, here = find(subject, **asked), find(subject, **asked, searches=3)
        for workers in (1, 2):
            with Processes(workers) as pool:
                there = find(subject, **asked, searches=3, pool=pool)
            assert there == here, workers
        first, three = (getattr(found, "search", found) for found in (one, here))
        assert (first.searches, three.searches) == (1, 3)
        assert three.scored > first.scored
        for rule in first.rules:
            best = min(other.loss for other in three.rules if other.numbers <= rule.numbers)
            assert best <= rule.loss + rule.error_bound


def test_ctrl_c_keeps_whole_searches():
    class Stopped(Here):
        done = 0

        def submit(self, function, *arguments):
            self.done += 1
            if self.done > 1:
                raise KeyboardInterrupt
            return super().submit(function, *arguments)

    asked = {"numbers": 2, "evaluations": 60}
    found = find_rules(KNOWN["blackjack"], **asked, searches=3, pool=Stopped())
    assert found.stopped
    assert found.searches == 1
    assert found.rules == find_rules(KNOWN["blackjack"], **asked).rules


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


def test_a_loss_that_is_small_enough_ends_the_search():
    wide = find_rules(KNOWN["pig"], 4, within=0.001, evaluations=2000)
    assert wide.rules[-1].loss <= 0.001
    assert all(rule.loss > 0.001 for rule in wide.rules[:-1])
    exact = find_rules(KNOWN["blackjack"], 4, evaluations=3000)
    assert exact.rules[-1].loss <= 0.0001


@pytest.mark.parametrize(
    ("subject", "after"), [("pig", 200), ("threes", 15)], ids=["conditions", "preferences"]
)
def test_a_search_that_is_stopped_gives_what_it_found(subject, after, monkeypatch):
    policies = KNOWN[subject]
    plain = Scorer.loss
    calls = 0

    def until_ctrl_c(self, *arguments, **options):
        nonlocal calls
        calls += 1
        if calls == after:
            raise KeyboardInterrupt
        return plain(self, *arguments, **options)

    monkeypatch.setattr(Scorer, "loss", until_ctrl_c)
    found = find_rules(policies, 3, evaluations=5000)
    assert found.stopped
    assert found.rules
    assert thumb_document(policies.graph, found)["stopped"] is True


def test_endless_rules_are_no_rules():
    policies = Policies.of(SuperSix(sticks=5, may_stop=2))
    found = find_rules(policies, 2, evaluations=300)
    assert all(np.isfinite(rule.loss) for rule in found.rules)


@dataclass(frozen=True)
class Wandering(Trap):
    """Seven rooms: on by the left door of one and by the right door of the next, in turns."""

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action != s.place % 2:
            yield 1, AGAIN, s
        elif s.place == 6:
            yield 1, END, s
        else:
            yield 1, AGAIN, Place(s.place + 1)

    def reward(self, s, action):
        return -1.0


def test_rules_that_end_where_play_comes_to_are_rules():
    """In the trap, which is never come to, there is nothing but to rest for ever."""
    found = find_rules(Trap(), 2, evaluations=50)
    assert [(rule.text, rule.loss) for rule in found.rules] == [("Always leave.", 0.0)]


def test_where_every_simple_rule_goes_round_for_ever():
    found = find_rules(Wandering(), 1, evaluations=50)
    assert found.rules == ()
    assert thumb_document(build(Wandering()), found)["rules"] == []


def test_where_nothing_has_to_be_remembered():
    found = find_rules(Pig(target=8), 3, evaluations=50)
    assert [(rule.numbers, rule.text) for rule in found.rules] == [(0, "Always roll.")]
    assert abs(found.rules[0].loss) <= found.rules[0].error_bound


def test_products():
    """Two fields multiplied, in the rule, in words, and too large."""
    graph = build(Pig(target=20))
    clauses = [{"if": "banked*rival - turn >= 9", "do": "roll"}, {"do": "hold"}]
    rule = Rule.read({"rule": clauses}, graph)
    assert rule.numbers == 1
    assert sentence_of(rule, graph) == (
        "Roll if banked × rival − turn is at least 9. Otherwise hold."
    )
    held = rule.clauses[0].condition.holds(Features(graph).states, {})
    wanted = [s.fields[0] * s.fields[1] - s.fields[2] >= 9 for s in graph.view]
    assert held.tolist() == wanted
    wide = {"x": np.array([1 << 20], np.int32), "y": np.array([1 << 10], np.int32)}
    with pytest.raises(PolicyError, match="1,073,741,824 in size"):
        Feature("x", "y", "product").values(wide)


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


def test_the_search_multiplies():
    """With four integers and without a product the search found nothing below 0.0032 points."""
    found = find_rules(Policies.of(SuperSix(sticks=40)), 4, evaluations=2000)
    best = found.rules[-1]
    assert "×" in best.text
    assert best.numbers <= 4
    assert best.loss < 0.00001


def test_before_a_throw_its_numbers_are_no_numbers_of_the_game():
    """A product of a number of the throw is as large as it can be after the throw."""
    graph = build(ShutTheBox(tiles=4))
    product = Feature("open", graph.throw_names[0], "product")
    assert 0 <= product.values(Features(graph).states).max() <= 2**10


def test_games_that_are_too_large_for_one_graph_are_refused():
    for command in ("thumb", "balance"):
        said = refusal(command, "pig", "--max-states", "100")
        assert f"But {command} looks at all positions at once" in said


def test_wrong_use():
    with pytest.raises(UsageError, match="no choices"):
        find_rules(Craps())
    wrongs = ({"numbers": 0}, {"evaluations": 0}, {"seconds": 0}, {"within": -1.0}, {"searches": 0})
    for wrong in wrongs:
        with pytest.raises(UsageError, match=next(iter(wrong))):
            find_rules(PIG, **wrong)


def test_the_command_prints_the_same_from_any_number_of_workers():
    words = [
        "thumb",
        "dice-blackjack",
        "low=8",
        "high=10",
        "--numbers",
        "2",
        "--evaluations",
        "60",
        "--searches",
        "2",
    ]
    assert output(*words) == output(*words, "--workers", "2")
    assert "(seed 1, 2 searches)" in output(*words)
    assert "--workers goes with --searches K" in refusal("thumb", "piglet", "--workers", "2")
    assert "--searches is 0" in refusal("thumb", "piglet", "--searches", "0")
    wrong = refusal("thumb", "piglet", "--searches", "2", "--cluster", "here")
    assert "tcp://10.0.0.1:8786" in wrong


def test_the_command(tmp_path):
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
    text = output("thumb", "threes", "dice=2", "--seconds", "0.001", cwd=tmp_path)
    assert "time ended the search, so the same seed may find other rules" in text


@pytest.mark.parametrize(
    "wrong",
    [
        "--seconds 0",
        "--numbers 0",
        "--seed -1",
        "--save x.csv",
        "--within -1",
        "--within 3",
        "--evaluations 0",
    ],
)
def test_wrong_options(wrong):
    refusal("thumb", "pig", "target=15", *wrong.split())


@pytest.mark.large
def test_pig_has_rules_better_than_those_that_are_known():
    """Keep pace and end race (Neller and Presser 2010) loses 0.461 points with three integers."""
    found = find_rules(Pig(), 5, evaluations=3000)
    loss = {rule.numbers: rule.loss for rule in found.rules}
    assert loss[3] <= 0.00461
    assert loss[4] <= 0.00363
    assert loss[5] <= 0.00297
