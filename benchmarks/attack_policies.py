"""Policies of random rule sheets, against exact fractions: the second part of `benchmarks.attack`.

Random policies are evaluated, responded to by each seat, and followed for the length of play and
the distribution of what is counted on the way. An action of a pool of dice keeps some of them; who
keeps all of them makes a second move, by the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

import rollwise
from benchmarks.attack_games import POOLS
from benchmarks.exact import (
    Node,
    Option,
    Options,
    Values,
    ahead,
    chain_values,
    end_components,
    game_values,
    total_values,
)
from rollwise.analysis.length_range import length_range, length_range_by_layer
from rollwise.errors import RollwiseError
from rollwise.graph.choices import outcome_action

if TYPE_CHECKING:
    from benchmarks.attack import Attack
    from benchmarks.attack_games import Table

START = ("at", 0), 0
MOST_TOTALS = 12  # numbers that a play may collect
Plan = Mapping[Any, int]  # the option that is taken in each choice


def look_at_policies(attack: Attack, found: Any) -> None:
    """What two random policies are worth against each other, and a best response."""
    game, graph = attack.game, found.graph
    plans = mine, theirs = [random_plan(attack) for _ in range(2)]
    first, second = (policy_of(attack, graph, plan) for plan in plans)
    rival = second if game.players == 2 else None
    exact = attack.solved(reached(followed(attack.rows, [mine, theirs]), game.players))
    told = attack.tried(
        lambda: rollwise.evaluate(graph, first, rival, starts=[0]), exact, "evaluate"
    )
    if told is not None:
        attack.shapes[f"evaluate, {game.kind}"] += 1
        look_at_starts(attack, "evaluate", exact, told)
    if game.players == 2:
        exact = attack.solved(reached(followed(attack.rows, [None, theirs]), 2))
        told = attack.tried(
            lambda: rollwise.best_response(graph, second, starts=[0]), exact, "respond"
        )
        if told is not None:
            attack.shapes[f"respond, {game.kind}"] += 1
            look_at_starts(attack, "respond", exact, told)
    if game.players == 1:
        look_at_distribution(attack, graph, mine, first)


def look_at_starts(attack: Attack, what: str, exact: Any, told: Any) -> None:
    attack.compare(what, attack.sign * exact[START], told.values[0], told.bounds[0])
    if attack.game.players == 2:
        worth = exact[("at", 0), 1]
        attack.compare(f"{what}, second", worth, told.values_second[0], told.bounds_second[0])


def look_at_seats(attack: Attack, graph: Any) -> None:
    """The shares of the seats with a policy each, and what each seat gets against one policy."""
    n = attack.game.players
    plans = [random_plan(attack) for _ in range(n)]
    policies = [policy_of(attack, graph, plan) for plan in plans]
    told = rollwise.evaluate(graph, policies)
    attack.shapes["policies of seats"] += 1
    for seat in range(n):  # the observer's, who is so many seats behind the mover
        rows = followed(attack.rows, [plans[(seat - behind) % n] for behind in range(n)])
        exact = chain_values({node: some[0] for node, some in rows.items()}, lambda seats: None)
        value = exact[("at", 0), seat]
        attack.compare(f"share of {seat}", value, told.win_probabilities[seat], told.error_bound)
    best = rollwise.best_responses(graph, policies[0])
    rows = followed(attack.rows, [None, *plans[:1] * (n - 1)])
    exact, _ = game_values(rows, dict.fromkeys(rows, 1), lambda seats: 0)
    for seat in range(n):
        value = exact[("at", 0), seat]
        attack.compare(f"response of {seat}", value, best.best[seat], best.error_bound)


def look_at_lengths(attack: Attack) -> None:
    """The moves of a play, by what the players want, and at random; by layers as well."""
    game = attack.game
    attack.shapes[f"lengths, {game.kind}"] += 1
    found = length_range(game, "random")
    aims = {"shortest": -1, "longest": 1}
    exact = {aim: total_values(moves(attack, sign)) for aim, sign in aims.items()}
    for aim, sign in aims.items():
        compare_length(attack, aim, exact[aim], sign, found.of(aim))
    chain = {
        node: [mixture(some, shares(attack, node))] for node, some in moves(attack, -1).items()
    }
    compare_length(attack, "policy", total_values(chain), -1, found.of("policy"))
    for told, rows in (
        (found.of("policy").moves, moves(attack, 1)),
        (found.score, attack.rows if game.objective != "win" else {}),
    ):
        if told is not None and rows:
            look_at_spread(attack, told, rows)
    if game.players == 2 and not end_components(attack.rows):
        rows = moves(attack, 1)
        sign = {node: 1 if node[1] == 0 else -1 for node in rows}
        worth, _ = game_values(rows, sign, lambda seats: None)
        for seat, aim in enumerate(("first stretches", "first hurries")):
            value = {START: worth[("at", 0), seat]}
            compare_length(attack, aim, value, 1, found.of(aim))
    if game.kind not in POOLS and game.players <= 2:
        by_layer = length_range_by_layer(game)
        for aim, sign in aims.items():
            compare_length(attack, f"{aim} by layers", exact[aim], sign, by_layer.of(aim))


def compare_length(attack: Attack, aim: str, known: Values | None, sign: int, told: Any) -> None:
    if known is None or known[START] == -np.inf:
        if told.moves is not None:
            attack.faults.append(f"the {aim} game has a length, and need not end")
    elif told.moves is not None:
        attack.compare(f"the {aim} game", sign * known[START], *told.moves.mean)
    elif told.unsettled is not None:  # by layers, beside a trap
        attack.shapes["lengths unsettled"] += 1
        if not told.unsettled.low <= sign * known[START] <= told.unsettled.high:
            attack.faults.append(f"the {aim} game is not in {told.unsettled}")
    elif attack.is_slow and not told.endless.startswith("they can"):
        attack.outcome = "undecided"
    else:
        attack.faults.append(f"the {aim} game has no length: {told.endless}")


def look_at_spread(attack: Attack, told: Any, rows: Options) -> None:
    """The mean and the variance of what random play collects."""
    chances = {node: shares(attack, node) for node in rows}
    means = chain_of(rows, chances)
    squares = {}
    for node in means:
        some, total = rows[node], Fraction(0)
        for part, option in zip(chances[node], some, strict=True):
            rest = ahead(option, means) - option.constant
            total += part * (option.constant**2 + 2 * option.constant * rest)
        squares[node] = [Option(total, mixture(some, chances[node]).after)]
    second = chain_of(squares, {node: [Fraction(1)] for node in squares})[START]
    sign = 1 if rows is not attack.rows else attack.sign
    mean = means[START]
    attack.compare("the mean of random play", sign * mean, *told.mean)
    value, bound = told.variance
    off = abs(Fraction(value) - (second - mean**2))
    if bound == np.inf and attack.is_slow:
        attack.outcome = "undecided"
    elif bound == np.inf or off > Fraction(bound):
        attack.faults.append(f"the variance of random play {value} ± {bound} is off by {off}")


def look_at_distribution(attack: Attack, graph: Any, plan: Plan, policy: Any) -> None:
    """How what a policy collects is distributed: numbers of actions that play can't come back to,
    or how often the action 1 of the rules is taken."""
    rows = reached(followed(attack.rows, [plan]), 1)
    counted = {}
    points = np.zeros(graph.n_actions, np.int64)
    if attack.game.kind in POOLS or end_components(attack.rows):
        labels = {node: attack.options[node[0]][plan.get(node[0], 0)][0] for node in rows}
        counted = {node: int(isinstance(name, int) and name == 1) for node, name in labels.items()}
        how: dict[str, Any] = {"count": "1"}
    else:
        for node, _, actions in choices_in(attack.game, graph):
            if (node, 0) in rows and not comes_back(attack.rows, (node, 0)):
                counted[node, 0] = attack.random.choice((-2, 0, 1, 1, 3))
                points[actions[plan[node]]] = counted[node, 0]
        how = {"points": points[outcome_action(graph)]}
    if not any(counted.values()):
        return
    try:
        told = rollwise.distribution(graph, policy, **how)
    except RollwiseError as error:
        if "no bound" not in str(error) and not end_components(rows):
            attack.faults.append(f"no distribution: {error}")
        return
    chances = totals_of(rows, counted)
    if chances is None:
        return
    attack.shapes["distribution"] += 1
    mean = sum(total * chance for total, chance in chances.items())
    attack.compare("the mean of a distribution", mean, told.mean, told.mean_bound)
    every = [told]
    with suppress(RollwiseError):  # elsewhere the policy may go round for ever
        every.append(rollwise.distributions(graph, policy, **how).of(0))
    for found in every:
        claimed = dict(zip(found.values.tolist(), found.probabilities.tolist(), strict=True))
        for total in chances.keys() | claimed.keys():
            what = f"the chance of {total}"
            exact = chances.get(total, Fraction(0))
            attack.compare(what, exact, claimed.get(total, 0.0), found.error_bound)


def comes_back(rows: Options, node: Node) -> bool:
    """Whether play can come from a node to it again."""
    queue = [to for option in rows[node] for to in option.after]
    seen = set(queue)
    for here in queue:
        for option in rows[here]:
            more = option.after.keys() - seen
            seen |= more
            queue += more
    return node in seen


def totals_of(rows: Options, counted: Mapping[Node, int]) -> dict[int, Fraction] | None:
    """The chances of what a chain collects; None of chains that collect too many numbers."""
    queue, chain = [(START, 0)], dict[Any, dict[Any, Fraction]]()
    for node, total in queue:  # which grows
        if (node, total) in chain:
            continue
        (option,) = rows[node]
        total_after = total + counted.get(node, 0)
        after = {(to, total_after): part for to, part in option.after.items()}
        chain[node, total] = after
        queue += after
    ends = {total + counted.get(node, 0) for node, total in chain}
    if len(ends) > MOST_TOTALS or end_components(rows):
        return None
    numbered = {key: (key, 0) for key in chain}
    chances = {}
    for end in ends:
        parts = {
            numbered[key]: Option(
                (1 - sum(after.values())) * (key[1] + counted.get(key[0], 0) == end),
                {numbered[to]: part for to, part in after.items()},
            )
            for key, after in chain.items()
        }
        chances[end] = chain_values(parts, lambda seats: None)[numbered[START, 0]]
    return chances


def random_plan(attack: Attack) -> dict[Any, int]:
    """An option of each choice, drawn at random; a pool's play by the rules is the same however
    many rolls are left."""
    plan = {}
    for node, some in attack.options.items():
        k = attack.random.randrange(len(some))
        if attack.game.kind == "pool" and node[3:] and node[3] and isinstance(some[k][0], int):
            k = plan[(*node[:3], 0)]
        plan[node] = k
    return plan


def policy_of(attack: Attack, graph: Any, plan: Plan) -> Any:
    """A plan as a policy: with rolls left it gives the dice to keep."""

    def policy(s: Any, *throw: Any) -> Any:
        if attack.game.kind not in POOLS:
            return plan[("thrown", s.place, throw) if throw else ("at", s.place)]
        faces, left = throw
        node = "thrown", s.place, faces, left
        label = attack.options[node][plan[node]][0]
        keeps_all = attack.game.kind == "pool" and left and isinstance(label, int)
        return faces if keeps_all else label

    return rollwise.Policy.of_function(graph, attack.game, "a plan", policy)


def followed(rows: Options, plans: list[Plan | None]) -> dict[Node, list[Option]]:
    """The options that are left where each seat, from the observer on, follows a plan or none."""
    return {
        node: some if plan is None else [some[plan.get(node[0], 0)]]
        for node, some in rows.items()
        for plan in plans[node[1] : node[1] + 1]
    }


def moves(attack: Attack, worth: int) -> dict[Node, list[Option]]:
    """The options of a game in which each move is worth so much, and nothing else is."""

    def made(node: Any, k: int) -> int:
        if node[0] == "at":
            return int(attack.game.kind == "plain")
        final = isinstance(attack.options[node][k][0], int)
        return 2 if attack.game.kind == "pool" and node[3] and final else 1

    return {
        node: [Option(Fraction(worth * made(node[0], k)), o.after) for k, o in enumerate(some)]
        for node, some in attack.rows.items()
    }


def shares(attack: Attack, node: Node) -> list[Fraction]:
    """The chances of the options where all actions are equally likely."""
    labels = [label for label, _ in attack.options[node[0]]]
    finals = sum(isinstance(label, int) for label in labels)
    if attack.game.kind != "pool" or not node[0][3:] or not node[0][3]:
        return [Fraction(1, len(labels))] * len(labels)
    part = Fraction(1, len(labels) - finals + 1)
    return [part / finals if isinstance(label, int) else part for label in labels]


def chain_of(rows: Options, chances: Mapping[Node, list[Fraction]]) -> Values:
    chain = reached({node: [mixture(some, chances[node])] for node, some in rows.items()}, 1)
    return chain_values({node: some[0] for node, some in chain.items()}, lambda seats: None)


def mixture(some: list[Option], chances: list[Fraction]) -> Option:
    """One option of several, by their chances."""
    total, after = sum(chances), dict[Node, Fraction]()
    for p, option in zip(chances, some, strict=True):
        for to, part in option.after.items() if p else ():
            after[to] = after.get(to, Fraction(0)) + p / total * part
    constant = sum((p * o.constant for p, o in zip(chances, some, strict=True)), Fraction(0))
    return Option(constant / total, after)


def reached(rows: Options, players: int) -> dict[Node, list[Option]]:
    """What play comes to from the start, whoever moves first."""
    queue: list[Node] = [(("at", 0), seat) for seat in range(players)]
    found = dict.fromkeys(queue)
    for node in queue:
        for option in rows[node]:
            for to in option.after:
                if to not in found:
                    found[to] = None
                    queue.append(to)
    return {node: rows[node] for node in found}


def choices_in(game: Table, graph: Any) -> Iterator[tuple[Any, Any, list[int]]]:
    """The nodes of the choices in a graph, with their rows and the indices of their actions."""
    flat = graph.flat
    for s, row in enumerate(flat.states.tolist()):
        place, *thrown = row
        actions = list(range(flat.action_indptr[s], flat.action_indptr[s + 1]))
        if game.kind == "plain":
            yield ("at", place), row, actions
        elif game.kind == "thrown" and s >= graph.n_positions:
            yield ("thrown", place, (thrown[0],)), row, actions
        elif game.kind in POOLS and s >= graph.n_positions and thrown[-1] == 0:
            yield ("thrown", place, tuple(thrown[:-1]), 0), row, actions
