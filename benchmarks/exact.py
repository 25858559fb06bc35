"""Exact values of small games in fractions, for `benchmarks.attack`; it reads nothing of rollwise.

A game is a mapping from nodes to options. Each node belongs to a seat at the table, seen from one
observer (seat 0): "max" nodes are the observer's, "min" nodes an opponent's. An option is a
constant and a mapping from nodes to chances; chances that are missing from one end the play. All
numbers are fractions, so an answer is right or wrong, without tolerances.

*Search.* Strategy iteration (Hoffman and Karp, Management Science 12, 1966), first in doubles, then
in fractions. Where play may never end, each move ends it with a tiny chance, which brings the
worth of endless play. Such games have one solution, and for a chance small enough their best
policies are best without it too (Blackwell, Annals of Mathematical Statistics 33, 1962).

*Proof.* Nothing of the search is believed. The values of the two policies are those of a Markov
chain, by elimination. They are the game's, if no option of the observer is worth more and none of
the opponent less, and endless play is worth no more to either player wherever one can force it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

Node = tuple[Any, int]
Values = dict[Node, Any]
Worth = Callable[[set[int]], int | None]  # of endless play among nodes of these seats
TINY = (Fraction(1, 2**300), Fraction(1, 2**1000))


class Option(NamedTuple):
    """A constant, and the chances of the nodes that follow."""

    constant: Fraction
    after: dict[Node, Fraction]

    @property
    def ends(self) -> bool:
        return sum(self.after.values()) < 1


Options = Mapping[Node, list[Option]]
Policy = dict[Node, int]


class Unsolved(Exception):
    """The search found no policies that could be proved best."""


def worth_of_endless(kind: str, pessimist: int = 0) -> Worth:
    """The worth of endless play to seat 0, by the rules of a game; with "lose", where both keep it
    up, the pessimist loses."""

    def worth(seats: set[int]) -> int | None:
        if kind == "draw":
            return 0
        if kind == "lose":
            losers = {pessimist} if len(seats) > 1 else seats
            return -1 if losers == {0} else 1
        return None

    return worth


def components(after: Mapping[Node, set[Node]]) -> list[list[Node]]:
    """Strongly connected components, those that others lead to first (Tarjan 1972)."""
    number: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack, found = [], []
    for root in after:
        if root in number:
            continue
        work = [(root, iter(after[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        while work:
            node, ways = work[-1]
            for to in ways:
                if to not in number:
                    number[to] = low[to] = len(number)
                    stack.append(to)
                    work.append((to, iter(after[to])))
                    break
                low[node] = min(low[node], low[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    part = []
                    while not part or part[-1] != node:
                        part.append(stack.pop())
                        low[part[-1]] = len(after) * 2  # no longer on the stack
                    found.append(part)
    return found


def end_components(options: Options) -> list[dict[Node, list[Option]]]:
    """The maximal sets of nodes and options in which play can be kept up for ever."""
    left = {node: list(some) for node, some in options.items()}
    while True:
        parts = components(
            {n: {t for o in some for t in o.after if t in left} for n, some in left.items()}
        )
        place = {node: i for i, part in enumerate(parts) for node in part}
        stay = {
            node: [
                o
                for o in some
                if not o.ends and all(place.get(t, -1) == place[node] for t in o.after)
            ]
            for node, some in left.items()
        }
        stay = {node: some for node, some in stay.items() if some}
        if sum(map(len, stay.values())) == sum(map(len, left.values())):
            return [{n: stay[n] for n in part} for part in parts if part[0] in stay]
        left = stay


def eliminate(chain: Mapping[Node, Option]) -> Values:
    """The values of a Markov chain from whose every node play may end, by state elimination."""
    constant = {node: row.constant for node, row in chain.items()}
    after = {node: dict(row.after) for node, row in chain.items()}
    before: dict[Node, set[Node]] = {node: set() for node in chain}
    for node, row in after.items():
        for to in row:
            before[to].add(node)
    order, left = [], set(chain)
    while left:
        node = min(left, key=lambda n: (len(before[n]) * len(after[n]), n[1]))
        left.remove(node)
        order.append(node)
        stays = after[node].pop(node, 0)
        if stays:
            before[node].discard(node)
            constant[node] /= 1 - stays
            after[node] = {to: chance / (1 - stays) for to, chance in after[node].items()}
        for source in before[node]:
            chance = after[source].pop(node)
            constant[source] += chance * constant[node]
            for to, further in after[node].items():
                after[source][to] = after[source].get(to, 0) + chance * further
                before[to].add(source)
        for to in after[node]:
            before[to].discard(node)
    values: Values = {}
    for node in reversed(order):
        values[node] = constant[node] + sum(p * values[to] for to, p in after[node].items())
    return values


def chain_values(chain: Mapping[Node, Option], worth: Worth) -> Values:
    """The values of a Markov chain, in which endless play has a worth."""
    stuck: Values = {}
    for part in components({node: set(row.after) for node, row in chain.items()}):
        inside = set(part)
        if all(not chain[n].ends and set(chain[n].after) <= inside for n in part):
            amount = worth({seat for _, seat in part})
            if amount is None:
                raise Unsolved("a policy never ends")
            stuck |= dict.fromkeys(part, Fraction(amount))
    rest = {}
    for node, row in chain.items():
        if node not in stuck:
            known = sum(p * stuck[to] for to, p in row.after.items() if to in stuck)
            rest[node] = Option(
                row.constant + known, {to: p for to, p in row.after.items() if to not in stuck}
            )
    return stuck | eliminate(rest)


def ahead(option: Option, values: Values) -> Any:
    return option.constant + sum(p * values[to] for to, p in option.after.items())


def improve(
    options: Options,
    sign: Mapping[Node, int],
    evaluate: Callable[[Policy], Values],
    policy: Policy,
    slack: float = 0,
) -> Policy:
    """Policies of both sides of which no option is better, by strategy iteration."""
    for _ in range(10_000):
        values = evaluate(policy)
        for side in (-1, 1):  # the opponent's best response first
            better = {}
            for node, some in options.items():
                if sign[node] == side and len(some) > 1:
                    worth = [side * ahead(option, values) for option in some]
                    best = max(worth)
                    gain = best - worth[policy[node]]
                    if gain > (slack * (1 + abs(best)) if slack else 0):
                        better[node] = worth.index(best)
            if better:
                policy = {**policy, **better}
                break
        else:
            return policy
    raise Unsolved("strategy iteration doesn't end")


def in_doubles(options: Options, stop: Mapping[Node, tuple[float, float]]) -> Callable[..., Values]:
    """An evaluation in doubles; play stops at each node with a chance, which is worth something."""
    nodes = list(options)
    place = {node: i for i, node in enumerate(nodes)}

    def evaluate(policy: Policy) -> Values:
        matrix, right = np.eye(len(nodes)), np.zeros(len(nodes))
        for i, node in enumerate(nodes):
            chance, worth = stop[node]
            row = options[node][policy[node]]
            right[i] = (1 - chance) * float(row.constant) + chance * worth
            for to, p in row.after.items():
                matrix[i, place[to]] -= (1 - chance) * float(p)
        return dict(zip(nodes, np.linalg.solve(matrix, right).tolist(), strict=True))

    return evaluate


def game_values(options: Options, sign: Mapping[Node, int], worth: Worth) -> tuple[Values, Policy]:
    """The values of a game that is won, lost or played for stakes, proved.

    Parameters
    ----------
    sign : mapping
        1 for nodes where the observer chooses, -1 for those where an opponent does.

    Raises
    ------
    Unsolved
    """
    endless = bool(end_components(options))
    both = worth({0, 1})
    policy: Policy = dict.fromkeys(options, 0)
    for attempt, (first, second) in enumerate([(1e-7, 1e-11), (0, 0), TINY]):
        # endless play of both seats has the worth of the seat that stops more often
        stop: dict[Node, tuple[Any, Any]] = dict.fromkeys(options, (0, 0))
        if endless:
            for node in options:
                alone = worth({node[1]})
                stop[node] = (first if alone == both else second, alone)
        try:
            if attempt == 0:
                policy = improve(options, sign, in_doubles(options, stop), policy, 1e-10)
            elif not endless or attempt == 2:

                def exactly(policy: Policy, stop: Any = stop) -> Values:
                    chain = {}
                    for node, k in policy.items():
                        (chance, amount), row = stop[node], options[node][k]
                        part = 1 - chance
                        after = {t: part * p for t, p in row.after.items()} if chance else row.after
                        chain[node] = Option(part * row.constant + chance * (amount or 0), after)
                    return eliminate(chain)

                policy = improve(options, sign, exactly, policy)
            values = chain_values({n: options[n][k] for n, k in policy.items()}, worth)
        except (Unsolved, np.linalg.LinAlgError, ZeroDivisionError):
            continue
        if is_saddle(options, sign, worth, policy, values):
            return values, policy
    raise Unsolved("no saddle point was found")


def is_saddle(
    options: Options, sign: Mapping[Node, int], worth: Worth, policy: Policy, values: Values
) -> bool:
    """Whether neither side gains by leaving its policy: a proof that the values are the game's."""
    for node, some in options.items():
        if any(sign[node] * (ahead(option, values) - values[node]) > 0 for option in some):
            return False
    for side in (1, -1):
        free = {n: some if sign[n] == side else [some[policy[n]]] for n, some in options.items()}
        for part in end_components(free):
            amount = worth({seat for _, seat in part})
            if amount is None or any(side * (amount - values[node]) > 0 for node in part):
                return False
    return True


def total_values(options: Options) -> Values | None:
    """The most points that one player gets on average; endless play has to cost without bound.

    None where a round is free or pays; minus infinity where nobody can be sure to end the play.
    """
    for part in end_components(options):
        stop = Option(Fraction(0), {})
        trial = {node: [stop, *some] for node, some in part.items()}
        try:
            values = totals(trial, dict.fromkeys(trial, 0))
        except Unsolved:  # a round that pays was better than to stop
            return None
        tight = {n: [o for o in some if ahead(o, values) == values[n]] for n, some in part.items()}
        if end_components({n: some for n, some in tight.items() if some}):
            return None  # a round is free
    left = dict(options)
    while True:  # nodes from which play may be ended surely, by options that stay among them
        safe = {n: [o for o in some if set(o.after) <= set(left)] for n, some in left.items()}
        first: Policy = {}
        while True:
            more = {
                n: next(k for k, o in enumerate(options[n]) if o in some and leads(o, first))
                for n, some in safe.items()
                if n not in first and any(leads(o, first) for o in some)
            }
            if not more:
                break
            first |= more
        if len(first) == len(left):
            break
        left = {n: options[n] for n in first}
    lost = dict.fromkeys(options.keys() - left.keys(), -np.inf)
    usable = {n: [o if set(o.after) <= set(left) else None for o in left[n]] for n in left}
    kept = {n: [o for o in some if o is not None] for n, some in usable.items()}
    policy = {n: kept[n].index(left[n][first[n]]) for n in kept}
    return {**lost, **totals(kept, policy)}


def leads(option: Option, known: Mapping[Node, int]) -> bool:
    """Whether an option may end the play, or come to a node that is known."""
    return option.ends or any(to in known for to in option.after)


def totals(options: Options, policy: Policy) -> Values:
    """The best totals, from a policy that ends, by exact policy iteration."""

    def exactly(policy: Policy) -> Values:
        return chain_values({n: options[n][k] for n, k in policy.items()}, lambda seats: None)

    return exactly(improve(options, dict.fromkeys(options, 1), exactly, policy))
