"""What a game does to its players: every figure against games that are played out by hand."""

from __future__ import annotations

import html
import json
import math
import signal
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import ClassVar, NamedTuple

import balance as tables
import numpy as np
import pytest
from cli_runner import output, refusal
from hypothesis import given, settings
from hypothesis import strategies as st
from little_games import RandomTable
from stakes import Gammons
from stalling_games import Trap
from throwing import Runners

import rollwise
from rollwise import AGAIN, END, PASS, WIN, Game
from rollwise.analysis.balance import MATTERS, SURE, Decided, balance
from rollwise.analysis.chain import greedy
from rollwise.analysis.lengths import lengths
from rollwise.analysis.played import play_beside
from rollwise.answer.references import Policies
from rollwise.derive.contest import Duel
from rollwise.documents.design import balance_document
from rollwise.errors import EndlessPlay, UsageError
from rollwise.games.pig import Pig, Piglet
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.threes import Threes
from rollwise.graph.choices import chances, is_throw
from rollwise.report.balance import balance_page, certainty, lines_of
from rollwise.simulate.lengths import Certified

GAMES = 2000
# Of two games each figure is held against games that are played: one with throws, one with draws.
PLAYED = {"throws": Runners(), "draws": Duel(Threes(dice=2)), "pig": Pig(target=12)}
ALONE = {"threes": Threes(dice=3)}


@cache
def found(name):
    return balance({**PLAYED, **ALONE}[name], evaluations=20)


class Dice:
    """Draws actions and outcomes of a graph, one number between 0 and 1 for each."""

    def __init__(self, graph, seed):
        self.random = np.random.default_rng(seed)
        self.actions = graph.action_indptr.tolist()
        self.outcomes = graph.outcome_indptr.tolist()
        self.rewards, self.next = graph.action_reward.tolist(), graph.outcome_state.tolist()
        self.passes = graph.outcome_passes.tolist()
        self.payoffs = graph.outcome_payoff.tolist()
        self.chances = chances(graph).tolist()

    def draw(self, chances, first, last):
        if last == first + 1:
            return first
        ahead = self.random.random()
        for k in range(first, last - 1):
            ahead -= chances[k]
            if ahead < 0:
                return k
        return last - 1

    def play(self, policies):
        """One game: the states with their movers, and what the first player got."""
        state, seat, came, gained = 0, 0, [], 0.0
        while True:
            came.append((state, seat))
            action = self.draw(policies[seat], *self.actions[state : state + 2])
            outcome = self.draw(self.chances, *self.outcomes[action : action + 2])
            sign = 1 if seat == 0 else -1
            gained += sign * self.rewards[action]
            state = self.next[outcome]
            if state < 0:
                return came, gained + sign * self.payoffs[outcome]
            seat ^= self.passes[outcome]


@cache
def games(name):
    """Games between those who play best: (states with movers, result)."""
    solution = found(name).solution
    dice, policy = Dice(solution.graph, 11), solution.policy.probability.tolist()
    return [dice.play([policy, policy]) for _ in range(GAMES)]


def near(exact, sample, off=0.0):
    """Whether the mean of a sample is what it should be: within five standard errors."""
    sample = np.asarray(sample, float)
    return abs(sample.mean() - exact) <= 5 * sample.std() / math.sqrt(len(sample)) + off + 1e-9


def first_chances(solution, came):
    """The first player's chance to win in each state of a game."""
    return [(1 + (1 if seat == 0 else -1) * solution.values[s]) / 2 for s, seat in came]


@pytest.mark.parametrize("name", [*PLAYED, *ALONE])
def test_value_luck_and_decisions(name):
    figures = found(name)
    graph = figures.solution.graph
    results = np.array([result for _, result in games(name)])
    assert near(figures.value.value, results)
    variance = (results - results.mean()) ** 2
    assert near(figures.luck.value**2, variance, off=0.01 * figures.luck.value**2)
    counts = np.diff(graph.action_indptr)
    choices = [[s for s, _ in came if counts[s] > 1] for came, _ in games(name)]
    assert near(figures.decisions.in_a_game.value, [len(states) for states in choices])
    regret = figures.solution.regret

    def at_random(state):
        low, high = graph.action_indptr[state : state + 2]
        return regret[low:high].mean()

    least = MATTERS * figures.luck.value
    assert figures.decisions.threshold == least
    every = np.flatnonzero(counts > 1).tolist()
    matter = {s for s in every if at_random(s) > least}
    counted = [sum(s in matter for s in states) for states in choices]
    assert near(figures.decisions.matter_in_a_game.value, counted)
    assert figures.decisions.positions == len(every)
    assert figures.decisions.matter == len(matter)


@pytest.mark.parametrize("name", PLAYED)
def test_how_long_games_last(name):
    figures, turns, moves = found(name), [], []
    graph = figures.solution.graph
    throws = is_throw(graph)[graph.action_indptr[:-1]]
    for came, _ in games(name):
        turns.append(1 + sum(a != b for (_, a), (_, b) in pairwise(came)))
        moves.append(sum(not throws[s] for s, _ in came))
    assert near(figures.turns.value, turns)
    assert near(figures.moves.value, moves)
    for turn in (2, 4):
        assert near(figures.lengths.chance[: turn + 1].sum(), np.array(turns) <= turn)


@pytest.mark.parametrize("name", PLAYED)
def test_draws_leads_and_comebacks(name):
    figures = found(name)
    draws, leads, comebacks = [], [], []
    for came, result in games(name):
        chances = [*first_chances(figures.solution, came), (1 + result) / 2]
        signs = [np.sign(c - 0.5) for c in chances if abs(c - 0.5) > 1e-9]
        draws.append(result == 0)
        leads.append(sum(a != b for a, b in pairwise(signs)))
        loser = [1 - c if result < 0 else c for c in chances]
        comebacks.append(result != 0 and min(loser) <= 1 - SURE + 1e-9)
    drama = figures.drama
    assert near(drama.draws.value, draws)
    assert near(drama.lead_changes.value, leads)
    assert near(drama.comebacks.value, comebacks)
    assert max(drama.draws.bound, drama.lead_changes.bound, drama.comebacks.bound) < 1e-9


@pytest.mark.parametrize("name", PLAYED)
def test_when_games_are_decided(name):
    figures, turns = found(name), []
    for came, result in games(name):
        if result == 0:
            continue
        chances = first_chances(figures.solution, came)
        chances = chances if result > 0 else [1 - c for c in chances]
        last = max((k for k, c in enumerate(chances) if c < SURE - 1e-9), default=-1)
        turn = 1 + sum(came[k][1] != came[k + 1][1] for k in range(last)) if last >= 0 else 0
        turns.append(turn)
    decided = figures.drama.decided
    assert decided.turn.sum() == pytest.approx(1 - figures.drama.draws.value, abs=1e-6)
    assert near(decided.mean, turns)
    middle = decided.quantile(0.5)
    assert near(decided.turn[: middle + 1].sum() / decided.turn.sum(), np.array(turns) <= middle)


@pytest.mark.parametrize("name", ["draws", "pig", *ALONE])
def test_the_share_of_skill(name):
    """Two games of the same pair agree in what who plays decides, and in nothing else."""
    figures = found(name)
    policies = Policies.of(figures.solution)
    graph, random = figures.solution.graph, np.random.default_rng(12)
    dice = Dice(graph, 13)
    rule = figures.rules.rules[-1].rule.policy(graph, policies.game)
    levels = [policies.find("random"), greedy(policies), rule, figures.solution.policy]
    assert figures.skill.levels == ("random", "greedy", "rule of thumb", "best")
    pairs = []
    for _ in range(GAMES):
        players = [levels[k].probability.tolist() for k in random.integers(4, size=2)]
        pairs.append([dice.play(players)[1] for _ in range(2)])
    one, two = np.array(pairs).T
    middle = np.array(pairs).mean()
    whole = ((np.array(pairs) - middle) ** 2).mean()
    assert near(figures.skill.share.value, (one - middle) * (two - middle) / whole)
    assert figures.skill.share.bound < 1e-6
    assert figures.skill.against_best[-1] == pytest.approx(
        figures.value.value if name in ALONE else 0, abs=1e-9
    )


BESIDE = {  # one for a single player, two that choose first, one that throws first, one for stakes
    "shut-the-box": (ShutTheBox(tiles=5), {"expected score", "at most 2 rolls", "decisions"}),
    "pig": (Pig(target=12), {"first player wins", "lead changes", "comebacks", "greedy wins"}),
    "throws": (Runners(), {"decisions that matter", "decided in turn", "random wins"}),
    "draws": (Duel(Threes(dice=2)), {"draws", "luck", "share of skill", "rule of thumb wins"}),
    "stakes": (Gammons(), {"expected payoff", "luck", "turns", "share of skill"}),
}


@pytest.mark.parametrize("name", BESIDE)
def test_every_figure_is_that_of_games_that_are_played(name):
    """Two samples of each figure that isn't a count of positions."""
    game, names = BESIDE[name]
    policies = Policies.of(game)
    figures = balance(policies, evaluations=20)
    played = play_beside(policies, figures, SURE, 1500, 5)
    there = {figure.name for figure in played.figures}
    assert names <= there, there
    assert played.seeds == (5, 6)
    one, two = np.array([[s.mean for s in figure.samples] for figure in played.figures]).T
    assert not np.allclose(one, two)
    assert played.disagreements() == []
    assert 0.5 < played.furthest < 5  # of so many figures one is off by half an error at least


def test_a_wrong_figure_is_found():
    policies = Policies.of(Pig(target=12))
    figures = balance(policies, evaluations=0)
    for name, wrong in (
        ("turns", replace(figures, turns=Certified(figures.turns.value * 1.05, 1e-9))),
        ("luck", replace(figures, luck=Certified(figures.luck.value * 0.95, 1e-9))),
        ("decisions", replace(figures, decisions=figures.decisions._replace(in_a_game=(9.0, 0.0)))),
    ):
        played = play_beside(policies, wrong, SURE, 4000, 1)
        assert name in played.disagreements()


def test_the_command_plays():
    words = ("balance", "piglet", "target=4", "--evaluations", "10", "--simulate", "200")
    said = output(*words)
    assert "played, seed 1  played, seed 2" in " ".join(said.split("\n")).replace("   ", "  ")
    assert "Means of 200 games of each pair of players" in said
    document = json.loads(output(*words, "--seed", "3", "--json"))["played"]
    assert document["seeds"] == [3, 4]
    assert len(document["figures"][0]["samples"]) == 2
    for games in ("99", "1000001"):
        assert "from 100 to 1,000,000" in refusal("balance", "piglet", "--simulate", games)


def test_figures_are_those_of_other_commands():
    figures = found("pig")
    solution = rollwise.solve(Pig(target=12))
    assert figures.value.value == solution.value
    against = rollwise.evaluate(solution, "random", "optimal", starts=[0])
    mean = (against.values[0] + against.values_second[0]) / 2
    assert figures.skill.against_best[0] == pytest.approx(mean, abs=1e-12)
    chance = figures.lengths.chance
    assert np.arange(len(chance)) @ chance == pytest.approx(figures.turns.value, abs=1e-6)


def test_stakes_have_luck_and_no_drama():
    figures = balance(Gammons(), evaluations=0)
    assert figures.drama is None
    assert figures.rules is None
    squares = rollwise.simulate.simulate(Gammons(), "optimal", games=4000, seed=1)
    score = squares.sides[0].score
    spread = score.standard_error * math.sqrt(4000)
    assert figures.luck.value == pytest.approx(spread, rel=0.1)


def test_where_weak_players_go_round_for_ever():
    figures = balance(Trap(), evaluations=10)
    assert figures.skill is None
    assert [rule.text for rule in figures.rules.rules] == ["Always leave."]
    assert figures.value.value == 2.0


@given(st.integers(0, 10_000))
@settings(max_examples=8)
def test_any_game_has_its_figures(seed):
    try:
        figures = balance(RandomTable(seed=seed), evaluations=0)
    except EndlessPlay:
        return
    assert figures.luck.value >= 0
    assert figures.decisions.matter <= figures.decisions.positions
    if figures.skill is not None:
        assert -1e-9 <= figures.skill.share.value <= 1
    if figures.drama is not None:
        total = figures.drama.decided.turn.sum() + figures.drama.draws.value
        assert total == pytest.approx(1, abs=1e-6)


def test_the_command():
    said = output("balance", "super-six", "sticks=7", "--evaluations", "20")
    for word in ("first player", "lead changes", "decided", "comebacks", "decisions", "skill"):
        assert f"\n{word}" in said
    document = json.loads(
        output("balance", "threes", "dice=2", "--contest", "--evaluations", "0", "--json")
    )
    assert document["game"] == "contest-threes"
    assert document["rules"] is None
    assert document["draws"]["value"] > 0.05


@pytest.mark.parametrize("name", [*PLAYED, *ALONE])
def test_what_each_action_is_good_for(name):
    figures = found(name)
    solution = figures.solution
    labels = np.unique(solution.graph.action_label).tolist()
    best, offered, alone, beside = {}, {}, {}, {}
    for state in solution.graph.view:
        if not state.is_choice:
            continue
        regret = {action.label: solution.regret[action] for action in state.actions}
        for one, lost in regret.items():
            least = min(other for label, other in regret.items() if label != one)
            offered[one] = offered.get(one, 0) + 1
            best[one] = best.get(one, 0) + (lost < 1e-9)
            alone[one] = alone.get(one, 0) + (least > 1e-9)
            for other in labels:
                gain = lost - regret[other] if other in regret else None
                beside.setdefault((one, other), []).append(gain)
    options = figures.decisions.options
    assert [o.number for o in options] == sorted(offered)
    assert {o.number: o.offered for o in options} == offered
    assert {o.number: o.best for o in options} == best
    assert {o.number: o.only_best for o in options} == alone
    assert sum(o.in_a_game for o in options) == pytest.approx(
        figures.decisions.in_a_game.value, abs=1e-6
    )
    for o in options:
        needless = any(
            one == o.number != other
            and len(gains) == o.offered
            and None not in gains
            and min(gains) > -1e-9
            and max(gains) > 1e-9
            for (one, other), gains in beside.items()
        )
        assert (o.dominated_by is not None) == needless


class Two(NamedTuple):
    score: int
    left: int


@dataclass(frozen=True)
class Wheels(Game):
    """Two wheels, the second of which is better in every spin; the third is a bad bargain."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = {0: "small wheel", 1: "large wheel", 2: "nothing"}

    def start(self):
        return Two(0, 2)

    def actions(self, s):
        yield 0
        yield 1
        if s.left == 1:
            yield 2

    def reward(self, s, action):
        return (1, 3, 0)[action]

    def outcomes(self, s, action):
        for more in (0, 1):
            then = END if s.left == 1 else AGAIN
            yield 1, then, Two(s.score + more, s.left - 1)


def test_dead_actions_and_dominated_ones_are_named(tmp_path):
    figures = balance(Wheels(), evaluations=0)
    options = {option.name: option for option in figures.decisions.options}
    assert options["small wheel"].dominated_by == "large wheel"
    assert options["nothing"].dominated_by == "large wheel"
    assert options["large wheel"].dominated_by is None
    assert figures.decisions.never_best == ("nothing", "small wheel")
    assert [options[name].in_a_game for name in options] == [0, 2, 0]
    said = {line.name: line.text for line in lines_of(figures, SURE)}
    assert said["dominated"] == "small wheel (by large wheel), nothing (by large wheel)"
    assert said["never taken"] == "small wheel, nothing"
    assert said["length"] == "always 2 rolls"


def test_a_game_that_the_dice_do_not_decide():
    said = {line.name: line.text for line in lines_of(balance(Sure(), evaluations=0), SURE)}
    assert said["first player"] == "wins 100.0000 %"
    assert said["luck"] == "none: the dice decide nothing"
    assert said["length"] == "always 1 turn"


@dataclass(frozen=True)
class Sure(Game):
    """Whoever begins wins, whatever they do."""

    def start(self):
        return Two(0, 1)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        yield 1, WIN, s
        yield 2, WIN, s


@dataclass(frozen=True)
class Seldom(Game):
    """Who first throws five alike wins: 1,296 turns on average."""

    def start(self):
        return Two(0, 1)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        yield 6 - 5 * action, WIN, s
        yield 7770 + 5 * action, PASS, s


def test_long_games_are_followed_to_their_end():
    figures = balance(Seldom(), evaluations=0)
    document = balance_document(figures)
    assert document["length"]["longer"] < 1e-8
    assert figures.lengths.mean == pytest.approx(1296, abs=1e-3)
    assert figures.drama.decided.mean == pytest.approx(1296, abs=1e-3)
    assert document["decisions"]["options"][0]["in_a_game"] == pytest.approx(1296, abs=1e-3)
    for share, turns in document["length"]["quantiles"].items():
        over = 1 - (1295 / 1296) ** np.array([turns - 1, turns])
        assert over[0] < float(share) / 100 <= over[1]


def test_games_that_last_longer_than_is_followed_are_said_to():
    figures = balance(Seldom(), evaluations=0)
    solution = figures.solution
    short = replace(figures, lengths=lengths(solution.graph, solution.policy, most=500))
    drama = replace_decided(short, later=0.75)
    document = balance_document(drama)
    assert document["length"]["longer"] == pytest.approx((1295 / 1296) ** 500)
    assert document["length"]["quantiles"] == {"5": 67, "50": None, "95": None}
    assert document["decided"]["later"] == 0.75
    said = {line.name: line.text for line in lines_of(drama, SURE)}
    assert said["length"] == (
        "more than 500 turns in the middle; 67 to more than 500 in at least nine games in ten"
    )
    assert "(75 % of games are later)" in said["decided"]
    assert "for 500 turns: 68 % of the games last longer" in certainty(drama)
    assert "68 % of games last longer than shown" in balance_page(drama, None, SURE).html


def replace_decided(figures, later):
    """The same figures, as if some games were decided after the turns that were followed."""
    turn = figures.drama.decided.turn[:501]
    return replace(figures, drama=figures.drama._replace(decided=Decided(turn, later)))


def test_ctrl_c_ends_it_while_rules_are_looked_for():
    def ask(stage, done, total):
        if stage == "rules of thumb":
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        balance(Pig(target=12), evaluations=100_000, progress=ask)


def test_a_page_for_people(tmp_path):
    place = tmp_path / "page.html"
    words = ("balance", "piglet", "target=4", "--evaluations", "10", "--simulate", "200")
    assert f"Written to {place}." in output(*words, "--out", str(place))
    page = place.read_text()
    for heading in ("Who has the edge", "How it is fought out", "What each action is good for"):
        assert f"<h2>{heading}</h2>" in page
    assert page.count('role="figure"') == 2
    figures = balance(Piglet(target=4), evaluations=10)
    for _, text in lines_of(figures, SURE):
        assert html.escape(text) in page
    assert "must end in .html or .pdf" in refusal("balance", "piglet", "--out", "page.txt")


def test_the_table_of_the_docs():
    """Two of its ten games, found anew."""
    page = tables.PAGE.read_text()
    assert len(tables.asked()) == 10
    for title, game in tables.asked():
        assert f"\n| {title} |" in page
        if title in ("Dice blackjack", "Threes for two, three dice"):
            assert tables.row(title, balance(game)) in page


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("pig target=3 --sure 0.4", "more than 0.5"),
        ("pig target=3 --sure 1", "less than 1"),
        ("pig target=3 --evaluations -1", "can't be less than 0"),
        ("pig aim=3", "no parameter 'aim'"),
        ("pig --contest", "solitaire"),
        ("threes --chase", "needs a target"),
    ],
)
def test_what_has_no_figures(words, says):
    assert says in refusal("balance", *words.split())


def test_numbers_out_of_range():
    with pytest.raises(UsageError, match=r"sure is 0\.5"):
        balance(Pig(target=3), sure=0.5)
