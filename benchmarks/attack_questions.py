"""A random attack on the questions: the figures of analysis, against a naive reference.

    python -m benchmarks.attack_questions [--games 200] [--seed 0] [--most 5] [--ask balance,..]

solves random rule sheets (`benchmarks.attack_games`) and asks about each answer. The reference
follows play on the graph of the game, whose values `benchmarks.attack` holds against the rules: a
chain of positions and seats, a linear system for each expectation, and sweeps for each best one.
It is written for clarity, and knows nothing of `rollwise.analysis`. Every fault is printed with the
seed of its game. The exit code is 1 if there is one.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import rollwise
from benchmarks.attack_games import Table, sheet
from rollwise.answer.references import Policies
from rollwise.errors import RollwiseError
from rollwise.graph.policies import Policy

NEAR = 1e-7  # of figures without a bound
QUESTIONS: dict[str, Callable[[Case], None]] = {}


class Endless(Exception):
    """The reference is for play that ends."""


class Way(NamedTuple):
    """One outcome of a node: points and payoffs are the first player's."""

    chance: float
    action: int
    reward: float
    to: int  # the next node, or -1
    paid: float
    outcome: Any
    made: int = 0  # so far, of the number that is counted


def points(outcome: Any, brought: float) -> int:
    """The first player's points of an outcome, whole."""
    if brought != round(brought):
        raise Endless
    return round(brought)


class Play:
    """Play from a state with a policy in each seat (None: all actions): nodes are (state, seat, the
    number counted on the way)."""

    def __init__(
        self,
        graph: Any,
        policies: list[Any],
        start: int = 0,
        seat: int = 0,
        allowed: Any = None,
        counts: Callable[[Any, float], int] | None = None,
    ) -> None:
        self.graph, self.policies = (graph := graph.flat), policies
        self.nodes, self.ways = [(start, seat, 0)], list[list[Way]]()
        number = {self.nodes[0]: 0}
        view = graph.view
        for s, mover, made in self.nodes:  # which grows
            sign, policy = (1 if mover == 0 else -1), policies[mover % len(policies)]
            found = []
            for action in view[s].actions:
                p = 1.0 if allowed is None else float(allowed[action.index])
                p = p if policy is None else float(policy.probability[action.index])
                for outcome in action.outcomes if p else ():
                    paid = sign * outcome.payoff if outcome.is_over else 0.0
                    reward, to = sign * action.reward, -1
                    total = made + (counts(outcome, reward + paid) if counts else 0)
                    if not outcome.is_over:
                        node = outcome.target, (mover + outcome.seats_on) % graph.players, total
                        to = number.setdefault(node, len(self.nodes))
                        if to == len(self.nodes):
                            self.nodes.append(node)
                        if to > 2000:
                            raise Endless
                    chance = p * outcome.chance
                    found.append(Way(chance, action.index, reward, to, paid, outcome, total))
            self.ways.append(found)

    @property
    def ends(self) -> bool:
        """Whether play ends surely, whatever the seats with a choice do."""
        by_action = [[{w.to for w in some} for some in row] for row in self.choices()]
        left = set(range(len(self.nodes)))
        while True:  # the nodes where some action stays among them
            stays = {i for i in left if any(to <= left for to in by_action[i])}
            if stays == left:
                return not left
            left = stays

    def choices(self) -> list[list[list[Way]]]:
        """The ways of each node, by action where its seat has no policy."""
        found = []
        for (_, seat, _), ways in zip(self.nodes, self.ways, strict=True):
            free = self.policies[seat % len(self.policies)] is None
            actions = sorted({w.action for w in ways}) if free else [-1]
            found.append([[w for w in ways if a in (-1, w.action)] for a in actions])
        return found

    def total(self, amount: Callable[[int, Way], float], after: Any = None) -> Any:
        """The expected sum of an amount of each way, from each node."""
        n = len(self.nodes)
        if after is None and not self.ends:
            raise Endless
        matrix, right = np.eye(n), np.zeros(n)
        for i, ways in enumerate(self.ways):
            for way in ways:
                right[i] += way.chance * amount(i, way)
                if way.to >= 0 and (after is None or after(i, way)):
                    matrix[i, way.to] -= way.chance
        return np.linalg.solve(matrix, right)

    def result(self) -> tuple[float, float]:
        """The mean and the variance of the first player's result, from the first node."""
        mean = self.total(lambda i, w: w.reward + w.paid)
        ahead = np.append(mean, 0.0)

        def square(i: int, way: Way) -> float:
            made = way.reward + way.paid
            return made**2 + 2 * made * ahead[way.to]

        return float(mean[0]), float(self.total(square)[0] - mean[0] ** 2)

    def best(self, amount: Callable[[int, Way], float], sign: Callable[[int], float]) -> Any:
        """The best expected sums, by sweeps: each node's seat wants the most of sign × the sum."""
        if not self.ends:
            raise Endless
        by_action = self.choices()
        values = np.zeros(len(self.nodes) + 1)
        for _ in range(2_000):
            before = values.copy()
            for i in reversed(range(len(self.nodes))):
                sums = [
                    sum(w.chance * (amount(i, w) + values[w.to]) for w in some)
                    for some in by_action[i]
                ]
                values[i] = max(sums, key=lambda x: sign(i) * x)
            if np.abs(values - before).max() < 1e-13:
                return values[:-1]
        raise Endless


class Case:
    """A solved game, and what is asked about it."""

    def __init__(self, game: Table) -> None:
        self.game, self.faults, self.asked = game, list[str](), Counter[str]()
        self.random = random.Random(game.seed)
        self.solution = rollwise.solve(game)
        self.graph = self.solution.graph
        self.policies = Policies.of(self.solution, any_players=True)

    def draw(self, name: str = "drawn", mixes: float = 0.3) -> Policy:
        """A random policy."""
        graph, chance = self.graph.flat, np.zeros(self.graph.n_actions)
        for state in graph.view:
            own = list(state.action_range)
            if self.random.random() < mixes:
                weights = [self.random.randint(0, 2) + 1e-300 for _ in own]
                weights = (
                    [w if w >= 1 else 0.0 for w in weights]
                    if max(weights) >= 1
                    else [1.0] * len(own)
                )
                chance[own] = np.array(weights) / sum(weights)
            else:
                chance[self.random.choice(own)] = 1.0
        return Policy(name, chance)

    def play(self, *policies: Any, start: int = 0, seat: int = 0) -> Play:
        return Play(self.graph, list(policies), start, seat)

    def hold(self, what: str, found: Any, known: float, bound: float = 0.0) -> None:
        """Compare a figure with the reference's."""
        self.asked[what.split(":")[0]] += 1
        if found is None or not abs(found - known) <= bound + NEAR * (1 + abs(known)):
            self.faults.append(f"{what} is {found} ± {bound:.1e}, not {known}")

    def shown(self, value: float) -> float:
        """A value as people read it."""
        return value if self.graph.is_score else (value + 1) / 2


def question(look: Callable[[Case], None]) -> Callable[[Case], None]:
    QUESTIONS[look.__name__.removeprefix("look_at_")] = look
    return look


@question
def look_at_balance(case: Case) -> None:
    from rollwise.analysis.balance import balance

    if case.graph.players > 2:
        return
    found = balance(case.solution, evaluations=0)
    play = case.play(case.solution.policy)
    mean, variance = play.result()
    case.hold("value", found.value.value, mean, found.value.bound)
    case.hold("luck", found.luck.value, max(variance, 0) ** 0.5, found.luck.bound + 1e-6)
    graph = case.graph.flat
    moves = play.total(lambda i, w: not graph.view.action(w.action).is_throw)[0]
    case.hold("moves", found.moves.value, moves, found.moves.bound)
    passes = play.total(lambda i, w: w.outcome.passes)[0]
    case.hold("turns", found.turns.value, 1 + passes, found.turns.bound)
    if case.graph.players == 2 and not found.lengths.is_cut:
        case.hold("mean of lengths", found.lengths.mean, 1 + passes)
    elif not found.lengths.is_cut:
        rolls = play.total(lambda i, w: is_roll(graph.view.action(w.action)))[0]
        case.hold("mean of rolls", found.lengths.mean, rolls)
    choice = [graph.view[s].is_choice for s, _, _ in play.nodes]
    often = play.total(lambda i, w: choice[i])[0]
    case.hold("decisions", found.decisions.in_a_game.value, often, found.decisions.in_a_game.bound)
    drama = found.drama
    if drama is None:
        return
    drawn = play.total(lambda i, w: w.to < 0 and w.paid == 0)[0]
    case.hold("draws", drama.draws.value, drawn, drama.draws.bound)
    off = found.solution.error_bound
    worth = [(1 if seat == 0 else -1) * case.solution.values[s] for s, seat, _ in play.nodes]
    lead = [0 if abs(x) <= off else 1 if x > 0 else -1 for x in worth]
    changes, back, turn = dramatic(play, lead, [x for x in worth], off)
    case.hold("lead changes", drama.lead_changes.value, changes, 1e-5)
    case.hold("comebacks", drama.comebacks.value, back, 1e-6)
    if drama.decided is not None and not drama.decided.is_cut:
        for k, p in enumerate(drama.decided.turn[: len(turn)]):
            case.hold(f"decided: in turn {k}", p, turn[k], 1e-6)


def is_roll(action: Any) -> bool:
    return len({(o.target, o.passes, o.payoff) for o in action.outcomes}) > 1


def dramatic(play: Play, lead: list[int], worth: list[float], off: float) -> Any:
    """Changes of the lead, comebacks, and the turn from which on the winner's chance is high, by
    following games forward with their histories."""
    high = [[x >= 0.8 - off for x in worth], [-x >= 0.8 - off for x in worth]]
    # leader, whether each was ever high, turn, the turns since which each is high (-1: isn't)
    first = (
        0,
        lead[0],
        high[0][0],
        high[1][0],
        1,
        0 if high[0][0] else -1,
        0 if high[1][0] else -1,
    )
    games = {first: 1.0}
    changes = back = 0.0
    decided = Counter[int]()
    for _ in range(400):
        later = Counter[Any]()
        for (i, leader, ever0, ever1, turn, since0, since1), p in games.items():
            for w in play.ways[i]:
                q = p * w.chance
                if w.to < 0:
                    if w.paid:
                        won = 0 if w.paid > 0 else 1
                        back += q * (ever1 if won == 0 else ever0)
                        changes += q * (leader != 0 and leader != (1 if won == 0 else -1))
                        since = (since0, since1)[won]
                        decided[turn if since < 0 else since] += q
                    continue
                now = lead[w.to] or leader
                changes += q * (leader != 0 and now != leader)
                next_turn = min(turn + bool(w.outcome.passes), 60)
                s0 = (since0 if since0 >= 0 else turn) if high[0][w.to] else -1
                s1 = (since1 if since1 >= 0 else turn) if high[1][w.to] else -1
                key = w.to, now, ever0 or high[0][w.to], ever1 or high[1][w.to], next_turn, s0, s1
                if q > 1e-13:
                    later[key] += q
        games = later
    return changes, back, [decided[k] for k in range(50)]


@question
def look_at_within(case: Case) -> None:
    from rollwise.analysis.lengths import within

    graph, n = case.graph, case.graph.players
    policies = [case.draw(f"p{k}") for k in range(n)]
    play, positions = case.play(*policies), set(graph.positions.tolist())
    found = within(graph, policies, 5, best=n < 3 and not graph.is_score)

    def ends_turn(way: Way) -> bool:
        if n == 1:  # a move of the rules leads to a position before a throw, if there are throws
            return way.to < 0 or way.outcome.target in positions
        return bool(way.outcome.seats_on) and not way.outcome.is_over

    def won(mover: int, way: Way, seat: int | None) -> float:
        if seat is None:
            return 1.0
        if n > 2:
            return float(way.outcome.shares[(seat - mover) % n])
        return float((way.paid > 0) if seat == 0 else (way.paid < 0))

    def chances(play: Play, seat: int | None, turns: int, best: bool = False) -> float:
        later = np.zeros(len(play.nodes) + 1)  # with no turn left
        for _ in range(turns):

            def amount(i: int, w: Way, later: Any = later) -> float:
                over = w.to < 0
                return won(play.nodes[i][1], w, seat) if over else later[w.to] * ends_turn(w)

            shorter = Play.__new__(Play)
            shorter.graph, shorter.nodes, shorter.policies = play.graph, play.nodes, play.policies
            if best:
                shorter.ways = [
                    [w._replace(to=-1 if ends_turn(w) else w.to, outcome=w) for w in ways]
                    for ways in play.ways
                ]
                values = shorter.best(
                    lambda i, w: amount(i, w.outcome), lambda i: 1 if play.nodes[i][1] == 0 else -1
                )
            else:
                values = play.total(amount, lambda i, w: not ends_turn(w))
            later = np.append(values, 0.0)
        return float(later[0])

    for k in range(5):
        case.hold(f"over: in {k + 1}", found.over[k], chances(play, None, k + 1), found.error_bound)
        if not graph.is_score:
            for seat in range(n):
                known = chances(play, seat, k + 1)
                case.hold(
                    f"won by: {seat} in {k + 1}", found.won[seat][k], known, found.error_bound
                )
            if found.best is not None:
                known = chances(case.play(None), 0, k + 1, True)
                case.hold(f"best: in {k + 1}", found.best[k], known, found.error_bound)


@question
def look_at_tournament(case: Case) -> None:
    from rollwise.simulate.tournament import tournament

    drawn = [case.draw(f"p{k}") for k in range(3)] + [case.solution.policy]
    n, sign = len(drawn), -1 if case.graph.objective == "minimize" else 1
    if not all(case.play(a, b).ends for a in drawn for b in drawn):
        return
    found = tournament(case.solution, drawn)
    if case.graph.players == 1:
        known = {p.name: case.shown(case.play(p).result()[0]) for p in drawn}
        for entry in found.standings:
            case.hold("standing", entry.result, known[entry.policy], entry.error)
        results = [sign * entry.result for entry in found.standings]
    else:
        first = np.array([[case.shown(case.play(a, b).result()[0]) for b in drawn] for a in drawn])
        both = (first + (0 if case.graph.is_score else 1) - first.T) / 2
        for i in range(n):
            for j in range(n):
                case.hold("first", found.first[i, j], first[i, j], 1e-9)
                case.hold("both", found.both[i, j], both[i, j], found.errors[i, j])
        names = [p.name for p in drawn]
        for entry in found.standings:
            i = names.index(entry.policy)
            known = np.delete(both[i], i).mean()
            case.hold("standing", entry.result, known, entry.error)
        results = [entry.result for entry in found.standings]
    if results != sorted(results, reverse=True):
        case.faults.append(f"the standings are in the wrong order: {found.standings}")


@question
def look_at_losses(case: Case) -> None:
    from rollwise.analysis.losses import loss_of

    graph, policy, best = case.graph, case.draw(), case.solution.policy
    found = loss_of(case.policies, policy)
    scale, sign = (1.0 if graph.is_score else 0.5), -1 if graph.objective == "minimize" else 1
    value = case.solution.value
    first = scale * sign * (value - case.play(policy, best).result()[0])
    case.hold("loss first", found.loss_first, first, found.error_bound)
    if graph.players == 1:
        case.hold("loss", found.loss, first, found.error_bound)
        return
    second = scale * (case.play(best, policy).result()[0] - value)
    case.hold("loss second", found.loss_second, second, found.error_bound)
    case.hold("loss", found.loss, (first + second) / 2, found.error_bound)
    of = lambda i, w: w.reward + w.paid  # noqa: E731
    gains = [
        Play(graph, [None, policy]).best(of, lambda i: 1)[0],
        -Play(graph, [policy, None]).best(of, lambda i: -1)[0],
    ]
    case.hold("exploitability", found.exploitability, sum(gains) / 2, found.exploitability_bound)
    if found.spread is not None and found.spread.is_known:
        sides = (
            ((policy, None), found.spread.loss_first),
            ((None, policy), found.spread.loss_second[::-1]),
        )
        for seats, told in sides:
            play = Play(graph, list(seats), allowed=case.solution.is_best)
            for end, way in zip(told, (1, -1), strict=True):
                known = play.best(of, lambda i, w=way: w)[0]
                loss = scale * (value - known) * (1 if seats[1] is None else -1)
                case.hold("spread", end, loss, found.spread.error_bound)


@question
def look_at_handicap(case: Case) -> None:
    from rollwise.analysis.handicap import handicap

    if case.graph.players != 2:
        return
    mine, theirs = case.draw("mine"), case.draw("theirs")
    places = list(range(len(case.game.level)))
    found = handicap(case.solution, "place,place", places, mine, theirs)
    for head in found.heads:
        for told, seat in ((head.first, 0), (head.second, 1)):
            if told is not None:
                start = case.graph.find([head.points])
                seats = (mine, theirs) if seat == 0 else (theirs, mine)
                known = case.play(*seats, start=start).result()[0] * (1 if seat == 0 else -1)
                case.hold(f"head: {seat}", told.value, case.shown(known), told.bound)


@question
def look_at_review(case: Case) -> None:
    from rollwise.coach.review import questions, review
    from rollwise.coach.session import Session
    from rollwise.coach.table import Table as Board

    n, board = case.graph.players, Board.of(case.solution, case.game)
    sessions = []
    for number in range(3):
        session = Session(board, [f"p{k}" for k in range(n)], [None] * n, seed=number)
        made, made_cost = np.zeros(n), np.zeros(n)
        for _ in range(300):
            if session.is_over:
                break
            state, mover = session.state, session.seat
            action = case.random.choice(list(case.graph.view[state].action_range))
            session.choose(action)
            entry = session.roll()
            act = case.graph.view.action(action)
            out = act.outcome(entry.outcome)
            if n <= 2:
                gain = act.reward + (out.payoff if out.is_over else 0.0)
                made += np.array([gain, -gain][:n] if mover == 0 else [-gain, gain])
                sign = -1 if case.graph.objective == "minimize" else 1
                q = act.reward + sum(o.chance * o.worth(case.solution.values) for o in act.outcomes)
                made_cost[mover] += sign * (case.solution.values[state] - q) * act.state.is_choice
                if act.state.is_choice:
                    case.hold("cost", entry.cost, sign * (case.solution.values[state] - q), 1e-9)
            elif out.is_over:
                shares = np.roll(out.shares, mover)
                made += shares if case.graph.is_score else 2 * shares - 1
        sessions.append(session)
        for seat in range(n):
            ledger = session.ledger(seat)
            case.hold("discrepancy", ledger.discrepancy, 0.0)
            if session.is_over:
                case.hold("result", ledger.result, made[seat])
            if n <= 2:
                sign = -1 if case.graph.objective == "minimize" else 1
                case.hold("own skill", ledger.skill[0], -sign * made_cost[seat], 1e-6)
    for one in review(sessions):
        seat = int(one.player[1:])
        ledgers = [session.ledger(seat) for session in sessions]
        case.hold("mean result", one.result, float(np.mean([x.result for x in ledgers])))
        case.hold("score", one.score, float(np.mean([x.start + x.skill[0] for x in ledgers])))
        case.hold("sum", one.start + one.luck + one.own_skill + one.others_skill, one.result)
        all_cost = sum(e.cost for s in sessions for e in s.accounts if e.seat == seat)
        case.hold("review's cost", one.cost, all_cost)
    asked = questions(sessions)
    times = sum(e.is_mistake for s in sessions for e in s.accounts)
    case.hold("mistakes", sum(q.times for q in asked), times)


def best_set(case: Case, aims: list[tuple[Any, float]], allowed: Any, counts: Any) -> Any:
    """The best expectation of one aim after the other (amount, sign), over the policies left."""
    play = Play(case.graph, [None], allowed=allowed, counts=counts)
    found = []
    for amount, sign in aims:
        values = play.best(amount, lambda i, sign=sign: sign)
        ahead = np.append(values, 0.0)
        for i, some in enumerate(play.choices()):
            sums = [sum(w.chance * (amount(i, w) + ahead[w.to]) for w in row) for row in some]
            kept = [row for row, x in zip(some, sums, strict=True) if abs(x - values[i]) < 1e-9]
            play.ways[i] = [w for row in kept for w in row]
        found.append(float(values[0]))
    return found


def quantities(case: Case) -> dict[str, tuple[Any, bool]]:
    """Quantities by name: the amount of a way, and whether it depends on the score."""
    view = case.graph.flat.view
    found: dict[str, tuple[Any, bool]] = {
        "moves": (lambda i, w: float(not w.outcome.action.is_throw), False),
        "rolls": (lambda i, w: float(is_roll(w.outcome.action)), False),
    }
    for name in {view.action(a).name for a in range(case.graph.flat.n_actions)}:
        if name.isdigit():
            found[name] = (lambda i, w, n=name: float(w.outcome.action.name == n), False)
    for x in (-1, 0, 1, 2):
        found[f"score<={x}"] = (lambda i, w, x=x: float(w.to < 0 and w.made <= x), True)
        found[f"score={x}"] = (lambda i, w, x=x: float(w.to < 0 and w.made == x), True)
    if case.graph.objective == "win":
        found["draw"] = (lambda i, w: float(w.to < 0 and w.paid == 0), False)
    return found


@question
def look_at_optimal(case: Case) -> None:
    from rollwise.analysis.second_aims import ranges, second_aims

    if case.graph.players > 2:
        return
    best, known = case.solution.is_best, quantities(case)
    two = case.graph.players == 2
    for name, (amount, scored) in known.items():
        if two and (scored or (name == "draw" and case.graph.is_score)):
            continue
        try:
            (told,) = ranges(case.solution, [name])
        except RollwiseError:
            continue
        for end, sign in ((told.least, -1), (told.most, 1)):
            (value,) = best_set(case, [(amount, sign)], best, points if scored else None)
            case.hold(f"range: of {name}", end, value, told.error_bound)
    names = [n for n, (_, scored) in known.items() if not (two and scored)]
    chosen = case.random.sample(names, 2)
    signs = [case.random.choice((1, -1)) for _ in chosen]
    texts = [f"{'most' if s > 0 else 'least'}:{n}" for n, s in zip(chosen, signs, strict=True)]
    scored = any(known[n][1] for n in chosen)
    found = second_aims(case.solution, texts)
    aims = [(known[n][0], s) for n, s in zip(chosen, signs, strict=True)]
    values = best_set(case, aims, best, points if scored else None)
    for text, told, value in zip(texts, found.values, values, strict=True):
        case.hold(f"aim: {text}", told.value, value, told.error_bound)


@question
def look_at_spread(case: Case) -> None:
    from rollwise.analysis.second_aims import score_ranges, second_aims

    if case.graph.players > 1:
        return
    mean, best = case.solution.value, case.solution.is_best
    found = score_ranges(case.solution)
    for score, row in found.rows.items():
        for told, sign in ((row.least, -1), (row.most, 1)):
            aims = [(lambda i, w, x=score: float(w.to < 0 and w.made == x), sign)]
            case.hold("row", told, best_set(case, aims, best, points)[0], row.error_bound)
    square = lambda i, w: float(w.to < 0) * (w.made - mean) ** 2  # noqa: E731
    for told, sign in ((found.variance.least, -1), (found.variance.most, 1)):
        value = best_set(case, [(square, sign)], best, points)[0]
        case.hold("variance", told, value, found.variance.error_bound)
    last = second_aims(case.solution, ["variance"]).distribution()
    case.hold("distribution's sd", last.sd**2, found.variance.least, 1e-6)
    case.hold("distribution's mean", last.mean, mean, 1e-6)


@question
def look_at_frontier(case: Case) -> None:
    from rollwise.analysis.frontier import frontier

    if case.graph.players > 1:
        return
    known = quantities(case)
    if case.graph.objective != "win":
        known["win"] = won_contest(case), True
    for name, (amount, scored) in known.items():
        least = case.random.random() < 0.5
        sign, way = (-1 if case.graph.objective == "minimize" else 1), -1 if least else 1
        try:
            found = frontier(case.solution, f"{'least' if least else 'most'}:{name}")
        except RollwiseError:
            continue
        for slope in (0.0, 0.1, 0.3, 1.0, 3.0, 10.0):

            def both(i: int, w: Way, slope: float = slope, amount: Any = amount) -> float:
                own = case.shown(w.paid) * (w.to < 0) + w.reward
                return sign * own + slope * way * amount(i, w)

            (value,) = best_set(case, [(both, 1)], None, points if scored else None)
            told = max(sign * c.mean + slope * way * c.value for c in found.corners)
            case.hold(f"frontier: of {name}", told, value, slope * found.gap + 1e-6)


def won_contest(case: Case) -> Any:
    """The first player's share of a contest at each end, if the second plays best."""
    sign = -1 if case.graph.objective == "minimize" else 1
    shares: dict[int, float] = {}

    def amount(i: int, w: Way) -> float:
        if w.to >= 0:
            return 0.0
        if w.made not in shares:

            def beats(j: int, v: Way) -> float:
                return float(v.to < 0) * (np.sign(sign * (v.made - w.made)) + 1) / 2

            shares[w.made] = 1 - best_set(case, [(beats, 1)], None, points)[0]
        return shares[w.made]

    return amount


@question
def look_at_distribution(case: Case) -> None:
    from rollwise.analysis.distributions import distribution, exact_distribution
    from rollwise.analysis.events import distribution_given, followed

    if case.graph.players > 2:
        return
    policy = case.draw()
    play = Play(case.graph, [policy], counts=points)
    followed_play = followed(case.graph, policy)
    found = distribution(followed_play.graph, followed_play.policy)
    known = totals(play)
    compare_totals(case, "distribution", found, known)
    if case.graph.players == 1:
        fractions = exact_distribution(case.graph, policy)
        for x, p in fractions.items():
            case.hold("exact distribution", float(p), known.get(x, 0.0))
    place = case.random.choice(case.graph.rows.tolist())[0]
    event = f"{case.graph.columns[0]} == {place}"
    if case.graph.players == 2 and case.random.random() < 0.5:
        event += " and seat == 2"
    rows = case.graph.rows
    met = lambda s, seat: rows[s][0] == place and ("seat" not in event or seat == 1)  # noqa: E731
    far = 10_000  # the first meeting counts so much: points stay below
    marked = Play(case.graph, [policy], counts=points)
    chances = Counter[Any]()
    games = {(0, met(0, 0)): 1.0}
    for _ in range(2000):
        later = Counter[Any]()
        for (i, hit), p in games.items():
            for w in marked.ways[i]:
                if w.to < 0:
                    chances[w.made, hit] += p * w.chance
                else:
                    node = marked.nodes[w.to]
                    later[w.to, hit or met(node[0], node[1])] += p * w.chance
        games = {key: p for key, p in later.items() if p > 1e-14}
    share = sum(p for (_, hit), p in chances.items() if hit)
    assert far
    told, part = distribution_given(followed_play, event)
    case.hold("share of plays", part, share)
    compare_totals(case, "given", told, {x: p / share for (x, hit), p in chances.items() if hit})


def totals(play: Play) -> dict[int, float]:
    ends = {w.made for ways in play.ways for w in ways if w.to < 0}
    return {
        x: float(play.total(lambda i, w, x=x: w.to < 0 and w.made == x)[0]) for x in sorted(ends)
    }


def compare_totals(case: Case, what: str, found: Any, known: dict[int, float]) -> None:
    told = dict(zip(found.values.tolist(), found.probabilities.tolist(), strict=True))
    for x in told.keys() | known.keys():
        case.hold(what, told.get(x, 0.0), known.get(x, 0.0), found.error_bound)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first game; each has the next")
    parser.add_argument("--most", type=int, default=5, help="places of a game")
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
    """The faults of a game, one after the other."""
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
        except (RollwiseError, Endless) as error:
            asked[f"({name}: {type(error).__name__})"] += 1
        except Exception:
            yield f"{name} {text}: {traceback.format_exc()}"
        yield from (f"{name}, {fault} {text}" for fault in case.faults)
        case.faults.clear()
    asked += case.asked


if __name__ == "__main__":
    main()
