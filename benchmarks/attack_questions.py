"""A random attack on the questions: the figures of analysis, against a naive reference.

    python -m benchmarks.attack_questions [--games 200] [--seed 0] [--most 4] [--ask aims,times]

draws rule sheets (`benchmarks.attack_games`), solves each of them, and asks about the answer. The
reference (`benchmarks.attack_play`) follows play on the graph of the game, whose values
`benchmarks.attack` holds against the rules. It knows nothing of `rollwise.analysis`. Games in a
form are solved in two ways. Every fault is printed with the seed of its game. The exit code is 1 if
there is one.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import rollwise
from benchmarks.attack_games import Table, sheet
from benchmarks.attack_play import (
    Amount,
    Play,
    Unknown,
    Way,
    at_end,
    brought,
    is_drawn,
    is_move,
    is_roll,
    whole,
)
from rollwise.analysis.balance import balance
from rollwise.analysis.chain import distribution_given, followed
from rollwise.analysis.contest import Contest, solve_contest
from rollwise.analysis.distance import distance_of_policy
from rollwise.analysis.distributions import distribution, exact_distribution
from rollwise.analysis.frontier import frontier
from rollwise.analysis.handicap import handicap
from rollwise.analysis.lengths import within
from rollwise.analysis.losses import loss_of
from rollwise.analysis.reaching import reach
from rollwise.analysis.second_aims import ranges, second_aims
from rollwise.answer.advice import advise
from rollwise.answer.layered_states import LayeredStates
from rollwise.answer.references import Policies
from rollwise.coach import Session
from rollwise.coach import Table as Board
from rollwise.coach.review import questions, review
from rollwise.derive.chase import Chase, WithScore
from rollwise.derive.contest import TIES, Duel
from rollwise.derive.cube import Cube
from rollwise.derive.within import Within
from rollwise.errors import RollwiseError, UsageError
from rollwise.graph.policies import Policy
from rollwise.simulate.tournament import tournament
from rollwise.simulate.turn_by_turn import best_play, play_turn_by_turn

NEAR = 1e-7  # of the reference's figures
QUESTIONS: dict[str, Callable[[Case], None]] = {}


class Case:
    """A solved game, and the comparison of its figures."""

    def __init__(self, game: Table) -> None:
        self.game, self.faults, self.asked = game, list[str](), Counter[str]()
        self.random = random.Random(game.seed)
        self.solution = rollwise.solve(game)
        self.graph, self.players = self.solution.graph, self.solution.graph.players
        self.view, self.best = self.graph.flat.view, self.solution.policy
        self.policies = Policies.of(self.solution, any_players=True)
        self.sign = -1 if self.graph.objective == "minimize" else 1
        self.unit = 1.0 if self.graph.is_score else 0.5  # of a shown loss

    def draw(self, name: str = "drawn") -> Policy:
        """A random policy, which mixes in some states."""
        chance = np.zeros(self.graph.n_actions)
        for state in self.view:
            own = list(state.action_range)
            some = self.random.sample(own, self.random.choice((1, 1, len(own))))
            chance[some] = 1 / len(some)
        return Policy(name, chance)

    def play(self, *policies: Policy | None, **how: Any) -> Play:
        return Play(self.graph, list(policies), **how)

    def shown(self, value: float) -> float:
        """A value as people read it."""
        return value if self.graph.is_score else (value + 1) / 2

    def hold(self, what: str, found: Any, known: float, bound: float = 0.0) -> None:
        """Compare a figure with the reference's."""
        self.asked[what.partition(":")[0]] += 1
        off = abs(found - known)
        if not (found == known or off <= bound + NEAR * (1 + abs(known))):
            self.faults.append(f"{what} is {found} ± {bound:.1e}, not {known}")

    def hold_all(self, what: str, found: Any, known: dict[int, float]) -> None:
        """Compare a distribution with the reference's."""
        told = dict(zip(found.values.tolist(), found.probabilities.tolist(), strict=True))
        for x in told.keys() | known.keys():
            self.hold(what, told.get(x, 0.0), known.get(x, 0.0), found.error_bound)

    def worth(self, action: Any) -> float:
        """The value of an action, by the values of the states after it."""
        ahead = sum(o.chance * o.worth(self.solution.values) for o in action.outcomes)
        return float(action.reward + ahead)


def question(*players: int) -> Callable[[Any], Any]:
    """Enter a question about games for so many players."""

    def enter(look: Callable[[Case], None]) -> Callable[[Case], None]:
        def asked(case: Case) -> None:
            if case.players in players:
                look(case)

        QUESTIONS[look.__name__] = asked
        return look

    return enter


@question(1, 2, 3, 4, 5)
def figures(case: Case) -> None:
    """The figures of `balance`, but for its drama, which tests play out."""
    found, play = balance(case.solution, evaluations=0), case.play(case.best)
    mean, variance = play.result()
    passes = play.mean(lambda i, w: float(w.outcome.passes))
    case.hold("value", found.seats[0], mean, found.value.bound)
    case.hold("luck", found.luck.value, max(variance, 0) ** 0.5, found.luck.bound + 1e-6)
    case.hold("moves", found.moves.value, play.mean(is_move), found.moves.bound)
    case.hold("turns", found.turns.value, 1 + passes, found.turns.bound)
    if not found.lengths.is_cut:
        counted = {"rolls": is_roll, "moves": is_move}  # moves in games without chance
        unit = found.lengths.unit
        length = 1 + passes if unit == "turns" else play.mean(counted[unit])
        case.hold("mean length", found.lengths.mean, length, 1e-6)
    if found.drama is not None:
        drawn = play.mean(is_drawn)
        case.hold("draws", found.drama.draws.value, drawn, found.drama.draws.bound)
    made = found.decisions
    choosing = {s.index for s in case.view if s.is_choice}
    often = play.mean(lambda i, w: play.nodes[i][0] in choosing)
    case.hold("decisions", made.in_a_game.value, often, made.in_a_game.bound)
    best = case.solution.is_best
    for option in made.options:
        own = [a for s in choosing for a in case.view[s].actions if a.label == option.number]
        good = [a for a in own if best[a]]
        alone = [a for a in good if sum(best[b] for b in a.state.actions) == 1]
        case.hold("offered", option.offered, len(own))
        case.hold("best", option.best, len(good))
        case.hold("only best", option.only_best, len(alone))


@question(1, 2, 3, 4, 5)
def times(case: Case) -> None:
    """The chances within some turns, of policies and of the best play for it."""
    graph, n, turns = case.graph, case.players, 4
    policies = [case.draw(f"p{k}") for k in range(n)]
    found = within(graph, policies, turns, best=n < 3 and not graph.is_score)
    positions = set(graph.positions.tolist())

    def ends_turn(way: Way) -> bool:
        """One player's turn is a move of the rules, to a position before any throw."""
        if n == 1:
            return way.to < 0 or way.outcome.target in positions
        return way.to < 0 or bool(way.outcome.seats_on)

    def won(mover: int, way: Way, seat: int | None) -> float:
        if seat is None or n > 2:
            return 1.0 if seat is None else float(way.outcome.shares[(seat - mover) % n])
        return float(way.paid > 0 if seat == 0 else way.paid < 0)

    def hold(what: str, told: Any, play: Play, seat: int | None) -> None:
        later = np.zeros(len(play.nodes) + 1)
        play.ways = [  # one turn; `made` is the node after the way
            [w._replace(to=-1 if ends_turn(w) else w.to, made=w.to) for w in ways]
            for ways in play.ways
        ]
        for k in range(turns):

            def amount(i: int, w: Way, later: Any = later) -> float:
                if w.made < 0:
                    return won(play.nodes[i][1], w, seat)
                return float(later[w.made]) if w.to < 0 else 0.0

            is_free = play.policies == [None]
            values = (
                play.best(amount, lambda i: 1 - 2 * play.nodes[i][1])
                if is_free
                else play.total(amount)
            )
            case.hold(what, told[k], float(values[0]), found.error_bound)
            later = np.append(values, 0.0)

    hold("over", found.over, case.play(*policies), None)
    for seat, told in enumerate(found.won):
        hold(f"won: by {seat}", told, case.play(*policies), seat)
    if found.best is not None:
        hold("won in time", found.best, case.play(None), 0)


@question(1, 2)
def rivals(case: Case) -> None:
    """A tournament, losses and head starts."""
    drawn = [*(case.draw(f"p{k}") for k in range(2)), case.best]
    first = np.array([[case.play(a, b).result()[0] for b in drawn] for a in drawn])
    found, names = tournament(case.solution, drawn), [p.name for p in drawn]
    both = (first - first.T) / 2
    for entry in found.standings:
        i = names.index(entry.policy)
        known = first[i, i] if case.players == 1 else np.delete(both[i], i).mean()
        case.hold("standing", entry.result, case.shown(known), entry.error)
    sign = case.sign if case.players == 1 else 1
    results = [sign * entry.result for entry in found.standings]
    if results != sorted(results, reverse=True):
        case.faults.append(f"the standings are in the wrong order: {results}")
    loss, value = loss_of(case.policies, drawn[0]), first[2, 2]
    lost = case.unit * case.sign * (value - first[0, 2])
    case.hold("loss first", loss.losses[0], lost, loss.error_bound)
    if case.players == 1:
        return
    lost += case.unit * (first[2, 0] - value)
    case.hold("loss", loss.loss, lost / 2, loss.error_bound)
    case.hold("exploitability", loss.exploitability, gain_against(case, drawn[0]), 1e-6)
    heads = handicap(case.solution, "place,place", range(len(case.game.level)), *drawn[:2]).heads
    for head in heads:
        if None not in head.seats:
            start = case.graph.find([head.points])
            one, two = case.play(*drawn[:2], start=start), case.play(*drawn[1::-1], start=start)
            case.hold("head first", head.seats[0].value, case.shown(one.result()[0]), 1e-9)
            case.hold("head second", head.seats[1].value, case.shown(-two.result()[0]), 1e-9)


@question(3, 4, 5)
def seats(case: Case) -> None:
    """Losses, head starts and distributions of results in each seat."""
    n, every = case.players, range(case.players)
    mine, theirs = case.draw("mine"), case.draw("theirs")

    def result(seat: int, policies: list[Policy], start: int = 0) -> Counter[float]:
        play, chances = case.play(*policies, start=start), Counter[float]()

        def share(i: int, w: Way) -> float:
            return float(w.outcome.shares[(seat - play.nodes[i][1]) % n])

        for x in {share(i, w) for i, ways in enumerate(play.ways) for w in ways if w.to < 0}:
            chances[x] = play.mean(lambda i, w, x=x: float(w.to < 0 and share(i, w) == x))
        return chances

    def mean(seat: int, policy: Policy, other: Policy, start: int = 0) -> float:
        seated = [policy if k == seat else other for k in every]
        return sum(x * p for x, p in result(seat, seated, start).items())

    loss, best = loss_of(case.policies, mine), case.best
    for seat in every:
        lost = mean(seat, best, best) - mean(seat, mine, best)
        case.hold("loss of a seat", loss.losses[seat], lost, loss.error_bound)
        seated = [mine if k % 2 else theirs for k in every]
        told = followed(case.graph, seated, seat).distribution()
        case.hold_all("results of a seat", told, result(seat, seated))
    try:
        places = ",".join(["place"] * n)
        heads = handicap(case.solution, places, range(len(case.game.level)), mine, theirs).heads
    except UsageError:  # the payoffs don't always add up to the same
        return
    for head in heads:
        for seat, worth in enumerate(head.seats):
            if worth is not None:
                fields = list(case.view[0].fields)
                fields[case.graph.field_names.index("place")] = head.points
                known = mean(seat, mine, theirs, case.graph.find(fields))
                case.hold("head of a seat", worth.value, known, worth.bound)


@question(3, 4, 5)
def deviations(case: Case) -> None:
    """The results of policies from some positions, and the gain of the seat that deviates."""
    n, every = case.players, range(case.players)
    seated = [case.draw(f"p{k}") for k in every]
    found, lost = (
        rollwise.evaluate(case.solution, seated),
        distance_of_policy(case.policies, seated),
    )

    def result(seat: int, play: Play) -> Amount:
        return lambda i, w: (
            float(w.outcome.shares[(seat - play.nodes[i][1]) % n]) if w.to < 0 else 0.0
        )

    for s in case.random.sample(range(case.graph.n_states), min(2, case.graph.n_states)):
        gains = []
        for mover in every:
            turned = seated[mover:] + seated[:mover]
            for seat in every:
                play = case.play(*turned, start=s)
                known = play.mean(result(seat, play))
                told, bound = found.values[mover, s, seat], found.bounds[mover, s]
                case.hold("evaluate a seat", told, known, bound)
                play = case.play(*(None if k == seat else p for k, p in enumerate(turned)), start=s)
                best = play.best(result(seat, play), lambda i, play=play: 1)[0]
                gains.append(float(best) - known)
        case.hold("gain by deviating", lost.high[s], max(gains), 1e-6)


def gain_against(case: Case, policy: Policy) -> float:
    """The mean gain of a best response, over the seats."""
    first = case.play(None, policy).best(brought, lambda i: 1)[0]
    return float(first - case.play(policy, None).best(brought, lambda i: -1)[0]) / 2


@question(1, 2, 3, 4, 5)
def reviews(case: Case) -> None:
    """The review of random games: costs, results, and parts that add up."""
    n, board, sessions = case.players, Board.of(case.solution, case.game), []
    for seed in range(3):
        session = Session(board, [f"p{k}" for k in range(n)], [None] * n, seed=seed)
        made = np.zeros(n)
        while not session.is_over and len(session.accounts) < 200:
            state, mover = case.view[session.state], session.seat
            action = case.random.choice(state.actions)
            session.choose(action.index)
            out = action.outcome((entry := session.roll()).outcome)
            if n < 3:
                gain = action.reward + (out.payoff if out.is_over else 0.0)
                made += np.array([gain, -gain][:n]) * (1 - 2 * mover)
                cost = case.sign * (case.solution.values[state] - case.worth(action))
                if not np.isnan(cost):  # of two infinite values
                    case.hold("cost", entry.cost, cost if state.is_choice else 0.0, 1e-9)
            elif out.is_over:
                shares = np.roll(out.shares, mover)
                made += shares if case.graph.is_score else 2 * shares - 1
        sessions.append(session)
        for seat in range(n):
            ledger = session.ledger(seat)
            if np.isfinite(ledger.discrepancy):
                case.hold("discrepancy", ledger.discrepancy, 0.0)
            if session.is_over:
                case.hold("result", ledger.result, made[seat])
    for one in review(sessions):
        costs = [e.cost for s in sessions for e in s.accounts if s.names[e.seat] == one.player]
        case.hold("review's cost", one.cost, sum(costs))
        if one.finished and np.isfinite(one.score):
            parts = one.start + one.luck + one.own_skill + one.others_skill
            case.hold("review's sum", parts, one.result)
    mistakes = sum(e.is_mistake for s in sessions for e in s.accounts)
    case.hold("mistakes", sum(asked.times for asked in questions(sessions)), mistakes)


def quantities(case: Case) -> dict[str, tuple[Amount, bool]]:
    """Quantities by name, and whether they depend on the score."""
    names = {a.name for s in case.view for a in s.actions if a.name.isdigit()}
    found: dict[str, tuple[Amount, bool]] = {"moves": (is_move, False), "rolls": (is_roll, False)}
    found |= {x: (lambda i, w, x=x: float(w.action.name == x), False) for x in names}
    if case.graph.objective == "win" and not case.graph.is_score:
        found["draw"] = is_drawn, False
    if case.players == 1:
        for x in (-1, 0, 1):
            found[f"score<={x}"] = at_end(lambda made, x=x: made <= x), True
    return found


@question(1, 2, 3, 4, 5)
def aims(case: Case) -> None:
    """Ranges over the optimal policies, second aims, and the policy for them, saved."""
    if case.solution.profile is not None and len(case.solution.profile.mixing):
        raise Unknown
    known, best = quantities(case), case.solution.is_best
    names = case.random.sample(sorted(known), 2)
    counts: Any = whole if any(known[name][1] for name in names) else lambda points: 0
    for name in names:
        (told,) = ranges(case.solution, [name])
        for end, sign in ((told.least, -1), (told.most, 1)):
            play = case.play(None, allowed=best, counts=counts)
            case.hold(f"range: of {name}", end, play.only_best(known[name][0], sign), 1e-9)
    signs = [case.random.choice((1, -1)) for _ in names]
    texts = [f"{'most' if s > 0 else 'least'}:{x}" for x, s in zip(names, signs, strict=True)]
    found, play = second_aims(case.solution, texts), case.play(None, allowed=best, counts=counts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.csv"
        found.table(case.solution).write_csv(path)
        scored = found.policies.scores is not None
        subject = WithScore(case.game) if scored else case.game
        policies = Policies.of(subject, any_players=True)
        saved = Play(policies.graph, [policies.find(str(path))], counts=counts)
    for text, name, sign, told in zip(texts, names, signs, found.values, strict=True):
        case.hold(f"aim: {text}", told.value, play.only_best(known[name][0], sign), 1e-9)
        case.hold(f"saved: {text}", saved.mean(known[name][0]), told.value, 1e-9)


@question(1)
def frontiers(case: Case) -> None:
    """The largest weighted sums of both aims are those of corners."""
    for name, (amount, scored) in quantities(case).items():
        way = case.random.choice((1, -1))
        try:
            found = frontier(case.solution, f"{'most' if way > 0 else 'least'}:{name}")
        except RollwiseError:
            continue
        for slope in (0.0, 0.3, 1.0, 10.0):

            def both(i: int, w: Way, of: Amount = amount, weight: float = slope * way) -> float:
                own = case.shown(w.paid) * (w.to < 0) + w.reward
                return case.sign * own + weight * of(i, w)

            play = case.play(None, counts=whole if scored else lambda points: 0)
            told = max(case.sign * c.mean + slope * way * c.value for c in found.corners)
            known = play.best(both, lambda i: 1)[0]
            case.hold(f"frontier: of {name}", told, known, slope * found.gap + 1e-6)


@question(1, 2)
def spreads(case: Case) -> None:
    """Distributions of results, of all plays and of those that come to some position."""
    policy, place = case.draw(), case.random.choice(case.graph.rows.tolist())[0]
    alone = followed(case.graph, [policy] * case.players)
    known = case.play(policy, counts=whole).scores()
    case.hold_all("distribution", distribution(alone.graph, alone.policy), known)
    if case.players == 1:
        for x, chance in exact_distribution(case.graph, policy).items():
            case.hold("exact distribution", float(chance), known[x])
    told, part = distribution_given(alone, f"place == {place}")
    play, rows, games = case.play(policy, counts=whole), case.graph.rows, Counter[Any]()
    games[0, rows[0][0] == place] = 1.0
    chances = Counter[int]()
    for _ in range(3_000):  # moves; a play is one that came to the place, or none yet
        later = Counter[Any]()
        for (i, came), p in games.items():
            for w in play.ways[i]:
                if w.to >= 0:
                    there = came or rows[play.nodes[w.to][0]][0] == place
                    later[w.to, there] += p * w.chance
                elif came:
                    chances[w.made] += p * w.chance
        games = later
    if sum(games.values()) > 1e-9:
        raise Unknown
    share = sum(chances.values())
    case.hold("share of plays", part, share)
    case.hold_all("given", told, {x: p / share for x, p in chances.items()})


@question(1)
def contests(case: Case) -> None:
    """Chases, contests of two, and the best chance of each score."""
    scores = sorted(case.play(None, counts=whole).scores()) if case.graph.n_states else []

    def best(worth: Callable[[int], float]) -> float:
        return float(case.play(None, counts=whole).best(at_end(worth), lambda i: 1)[0])

    def against(score: int, tie: float) -> float:
        return best(lambda made: tie if made == score else case.sign * np.sign(made - score))

    for ties, tie in TIES.items():
        answers = {score: against(score, tie) for score in scores}
        value = best(lambda made, answers=answers: -answers[made])
        solved = solve_contest(Contest(case.game, 2, ties))
        case.hold("duel", rollwise.solve(Duel(case.game, ties)).value, value, 1e-9)
        case.hold("contest", solved.probabilities[0], (1 + value) / 2, solved.error_bound)
        for score, answer in answers.items():
            case.hold("moment", solved.moment((score,))[0][1], (1 + answer) / 2, 1e-9)
    found = reach(case.game, range(-3, 4))
    for score, chance in zip(range(-3, 4), found.chances.tolist(), strict=True):
        known = best(lambda made, score=score: case.sign * (made - score) >= 0)
        case.hold("reach", chance, known, found.error_bound)


@question(1, 2)
def forms(case: Case) -> None:
    """Games in a form: the graph made from the game's own, and that of the rules."""
    made: list[Callable[[Any], Any]] = [Chase, Duel, WithScore, Cube]
    made += [lambda game: Within(game, 3), lambda game: Cube(game, limit=2, opening=True)]
    made += [lambda game: Within(Duel(game), 3), lambda game: Cube(game, limit=1, beavers=True)]
    for form in made:
        try:
            derived = rollwise.solve(form(case.game))
        except RollwiseError:
            continue
        plain = rollwise.solve(form(case.game), mode="interpreted")
        case.hold("positions", derived.graph.n_positions, plain.graph.n_positions)
        for s in plain.graph.positions.tolist():
            place = dict(zip(plain.graph.field_names, plain.graph.row(s), strict=False))
            found = derived.values[derived.find(place)]
            case.hold(f"form: {form(case.game)}", found, plain.values[s], 1e-9)


@question(1, 2)
def places(case: Case) -> None:
    """Values, responses and advice elsewhere than at the start."""
    mine, theirs = case.draw("mine"), case.draw("theirs")
    for s in case.random.sample(range(case.graph.n_states), min(3, case.graph.n_states)):
        seats = (mine, theirs)[: case.players]
        found = rollwise.evaluate(case.solution, *seats, starts=[s])
        case.hold("evaluate", found.values[s], case.play(*seats, start=s).result()[0], 1e-9)
        for row, action in zip(
            advise(case.solution, s).actions, case.view[s].actions, strict=False
        ):
            case.hold("advice", row.value, case.worth(action), row.error_bound)
        if case.players == 2:
            told = rollwise.best_response(case.solution, theirs, starts=[s])
            known = case.play(None, theirs, start=s).best(brought, lambda i: 1)[0]
            case.hold("respond", told.values[s], known, 1e-6)
            value = case.play(told.response, theirs, start=s).result()[0]
            case.hold("response", value, told.values[s], 1e-6)


@question(1, 2)
def large(case: Case) -> None:
    """An answer by layers, one turn at a time: the same advice, and best play that ends."""
    answer = rollwise.solve_by_layers(case.game)
    with mock.patch.object(LayeredStates, "is_small", False):
        for row in answer.space.states.tolist():
            told, known = answer.advise(row), advise(case.solution, case.graph.find(row))
            if told.worth_name != known.worth_name:
                case.faults.append(f"values are a {told.worth_name}, not a {known.worth_name}")
            case.hold("layers", told.value, known.value, told.error_bound + known.error_bound)
            pairs = zip([*told.actions, *told.throws], [*known.actions, *known.throws], strict=True)
            for one, two in pairs:
                case.hold("turn", one.value, two.value, one.error_bound + two.error_bound)
        if case.play(case.best).mean(is_move) > 100:
            raise Unknown
        played = play_turn_by_turn(case.game, best_play(answer), 30, 1)
    case.hold("unfinished games", (~played.over).sum(), 0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first game; each has the next")
    parser.add_argument("--most", type=int, default=4, help="places of a game")
    parser.add_argument("--ask", default=",".join(QUESTIONS), help="questions, after commas")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    began, asked, n_faults = time.perf_counter(), Counter[str](), 0
    for seed in range(wanted.seed, wanted.seed + wanted.games):
        for fault in attacked(seed, wanted.most, wanted.ask.split(","), asked):
            n_faults += 1
            print(f"seed {seed}: {fault}", flush=True)
    told = ", ".join(f"{n:,} {what}" for what, n in sorted(asked.items()))
    spent = time.perf_counter() - began
    print(f"{wanted.games:,} games in {spent:,.0f} s; {n_faults} faults\n{told}")
    sys.exit(n_faults > 0)


def attacked(seed: int, most: int, names: list[str], asked: Counter[str]) -> Iterator[str]:
    """The faults of a game, one after the other. Two games in three have whole points."""
    game = sheet(seed, most, whole=seed % 3 > 0)
    if game.n_slow:
        return
    try:
        case = Case(game)
    except RollwiseError:
        asked["(refused)"] += 1
        return
    text = f"({game.kind}, {game.players} players, {game.objective}, endless {game.endless})"
    for name in names:
        try:
            QUESTIONS[name](case)
        except (RollwiseError, Unknown):
            asked[f"({name}: no answer)"] += 1
        except Exception:
            yield f"{name} {text}: {traceback.format_exc()}"
        yield from (f"{name}, {fault} {text}" for fault in case.faults)
        case.faults.clear()
    asked += case.asked


if __name__ == "__main__":
    main()
