"""Graphs made by hand or by chance, without any rules behind them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from rollwise.graph import StateGraph
from rollwise.graph.policies import Policy
from rollwise.then import AGAIN, DRAW, END, LOSE, PASS, WIN

PAYOFF = {WIN: 1.0, LOSE: -1.0}

Outcome = tuple[float, int, int | None]  # weight, then, next state
Action = tuple[float, Sequence[Outcome]]  # reward, outcomes


def assemble(
    table: Sequence[Sequence[Action]],
    *,
    objective="win",
    players=2,
    n_border=0,
    endless="forbidden",
) -> StateGraph:
    """The graph whose state s has the actions ``table[s]``; its only field is its number."""
    actions = [action for options in table for action in options]
    outcomes = [outcome for _, ways in actions for outcome in ways]
    weights = [weight for weight, _, _ in outcomes]
    whole = all(isinstance(weight, int) for weight in weights)
    counts = [len(options) for options in table]
    return StateGraph.of_arrays(
        states=np.arange(len(table), dtype=np.int32).reshape(-1, 1),
        action_indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        action_label=np.concatenate([np.arange(k, dtype=np.int32) for k in counts]),
        action_reward=np.array([reward for reward, _ in actions], np.float64),
        outcome_indptr=np.concatenate([[0], np.cumsum([len(w) for _, w in actions])]).astype(
            np.int64
        ),
        outcome_state=np.array(
            [t if then in (AGAIN, PASS) else -1 for _, then, t in outcomes], np.int32
        ),
        outcome_weight=np.array(weights, np.int64 if whole else np.float64),
        outcome_passes=np.array([then == PASS for _, then, _ in outcomes], np.bool_),
        outcome_payoff=np.array([PAYOFF.get(then, 0.0) for _, then, _ in outcomes]),
        field_names=("number",),
        action_names={},
        game="by-hand",
        parameters={},
        players=players,
        objective=objective,
        n_border=n_border,
        endless=endless,
    )


FOR_TWO = ((2, "win"),)
KINDS = ((2, "win"), (1, "win"), (1, "maximize"), (1, "minimize"))


@st.composite
def ending_graphs(
    draw,
    kinds=KINDS,
    max_states=7,
    n_border=0,
    weights=st.integers(1, 9),
    points=st.integers(-8, 8).map(lambda r: r / 4),
):
    """Graphs in which every play ends, whatever the players do, cycles and all.

    The first outcome of every action leads to a state of a higher number, over
    the border or to the end; the others lead anywhere.
    """
    players, objective = draw(st.sampled_from(kinds))
    onward = [AGAIN, PASS] if players == 2 else [AGAIN]
    over = [WIN, LOSE, DRAW] if objective == "win" else [END]
    n = draw(st.integers(1, max_states))
    rewards = st.just(0.0) if objective == "win" else points

    def outcome(targets):
        return st.one_of(
            st.tuples(weights, st.sampled_from(over), st.none()),
            *(
                [st.tuples(weights, st.sampled_from(onward), targets)]
                if targets is not None
                else []
            ),
        )

    anywhere = outcome(st.integers(0, n + n_border - 1))
    table = []
    for s in range(n):
        ahead = outcome(st.integers(s + 1, n + n_border - 1) if s + 1 < n + n_border else None)
        ways = st.tuples(ahead, st.lists(anywhere, max_size=3)).map(lambda w: [w[0], *w[1]])
        table.append(draw(st.lists(st.tuples(rewards, ways), min_size=1, max_size=3)))
    return assemble(table, objective=objective, players=players, n_border=n_border)


def _tables(n, thens, rewards, overs):
    over = st.tuples(st.integers(1, 3), st.sampled_from(overs), st.none())
    onward = st.tuples(st.integers(1, 3), st.sampled_from(thens), st.integers(0, n - 1))
    ways = st.lists(st.one_of(onward, onward, onward, over), min_size=1, max_size=3)
    action = st.tuples(st.sampled_from(rewards), ways)
    return st.lists(st.lists(action, min_size=1, max_size=2), min_size=n, max_size=n)


@st.composite
def games_to_win(draw, players, endless, max_states=None):
    """Games in which play may go on for ever, which the rules say the worth of."""
    n = draw(st.integers(1, max_states or (3 if players == 2 else 5)))
    thens = [AGAIN, PASS] if players == 2 else [AGAIN]
    table = draw(_tables(n, thens, [0.0], [WIN, LOSE]))
    return assemble(table, players=players, endless=endless)


@st.composite
def games_for_points(draw):
    """Games for one in which some rounds cost points and others don't."""
    objective = draw(st.sampled_from(["maximize", "minimize"]))
    sign = 1 if objective == "maximize" else -1
    rewards = [-3.0 * sign, -1.0 * sign, -1.0 * sign, 0.0, 2.0 * sign]
    table = draw(_tables(draw(st.integers(1, 5)), [AGAIN], rewards, [END]))
    return assemble(table, players=1, objective=objective)


@st.composite
def graph_and_policies(draw, kinds=FOR_TWO, n_policies=2):
    """A graph and policies on it, pure in some states and mixed in others."""
    graph = draw(ending_graphs(kinds=kinds, max_states=5))
    policies = []
    for i in range(n_policies):
        weights = [draw(st.integers(0, 4)) for _ in range(graph.n_actions)]
        chances = np.array(weights, np.float64)
        total = np.add.reduceat(chances, graph.action_indptr[:-1])
        chances[graph.action_indptr[:-1][total == 0]] = 1.0
        total = np.maximum(total, 1.0)
        policies.append(Policy(f"p{i}", chances / total[graph.action_state]))
    return graph, policies


def chain(n: int, *, ahead: int = 1, back: int = 1, seats: int = 1) -> StateGraph:
    """Gambler's ruin on states 0 to n - 1: a win past the end, a loss before the start."""
    table = []
    for s in range(n):
        up = (ahead, AGAIN, s + 1) if s + 1 < n else (ahead, WIN, None)
        down = (back, AGAIN, s - 1) if s > 0 else (back, LOSE, None)
        table.append([(0.0, [up, down])])
    return assemble(table, players=seats)


def side_by_side(*parts: StateGraph) -> StateGraph:
    """Graphs of games for two as one, whose states follow one another."""
    table: list[list[Action]] = []
    for graph in parts:
        first = len(table)
        for s in range(graph.n_states):
            options = []
            for a in range(graph.action_indptr[s], graph.action_indptr[s + 1]):
                ways: list[tuple[int, int, int | None]] = []
                for k in range(graph.outcome_indptr[a], graph.outcome_indptr[a + 1]):
                    t, weight = int(graph.outcome_state[k]), int(graph.outcome_weight[k])
                    if t >= 0:
                        ways.append((weight, PASS if graph.outcome_passes[k] else AGAIN, first + t))
                    else:
                        over = {1.0: WIN, -1.0: LOSE, 0.0: DRAW}[graph.outcome_payoff[k].item()]
                        ways.append((weight, over, None))
                options.append((0.0, ways))
            table.append(options)
    return assemble(table)


# Choosing for both players at once goes round in circles here, found by trying many
# random graphs: the best actions at the values of one choice are those of another, whose
# own best are the first again. The first catches the textbook method started from zero,
# the others what `newton` does, once it takes every step without a look at the change.
ROUND_IN_CIRCLES = [
    [
        [(0.0, [(8, LOSE, None), (13, DRAW, None)]), (0.0, [(1, WIN, None), (90, PASS, 1)])],
        [(0.0, [(1, PASS, 2), (150, AGAIN, 1)]), (0.0, [(1, DRAW, None), (96, DRAW, None)])],
        [(0.0, [(6, LOSE, None), (19, PASS, 0)]), (0.0, [(1, LOSE, None), (53, PASS, 1)])],
    ],
    [
        [(0.0, [(1, AGAIN, 1), (27, AGAIN, 1)]), (0.0, [(11, PASS, 2), (4, DRAW, None)])],
        [(0.0, [(1, LOSE, None), (141, LOSE, None)]), (0.0, [(4, PASS, 4), (17, PASS, 3)])],
        [(0.0, [(1, DRAW, None), (140, PASS, 4)]), (0.0, [(1, LOSE, None), (37, PASS, 2)])],
        [(0.0, [(14, WIN, None), (6, AGAIN, 1)]), (0.0, [(19, DRAW, None), (11, AGAIN, 2)])],
        [(0.0, [(1, WIN, None), (116, PASS, 0)]), (0.0, [(1, LOSE, None), (80, PASS, 2)])],
    ],
    [
        [(0.0, [(7, LOSE, None), (11, AGAIN, 0)]), (0.0, [(1, PASS, 2), (9, PASS, 1)])],
        [(0.0, [(17, DRAW, None), (13, WIN, None)]), (0.0, [(1, AGAIN, 2), (44, AGAIN, 1)])],
        [(0.0, [(1, WIN, None), (150, DRAW, None)]), (0.0, [(1, LOSE, None), (13, PASS, 0)])],
    ],
    [
        [(0.0, [(1, AGAIN, 2), (110, PASS, 1)]), (0.0, [(1, LOSE, None), (18, WIN, None)])],
        [(0.0, [(15, AGAIN, 3), (18, PASS, 1)]), (0.0, [(2, WIN, None), (19, PASS, 3)])],
        [(0.0, [(1, WIN, None), (164, WIN, None)]), (0.0, [(1, DRAW, None), (120, PASS, 0)])],
        [(0.0, [(1, DRAW, None), (102, PASS, 1)]), (0.0, [(1, DRAW, None), (53, AGAIN, 1)])],
    ],
]
