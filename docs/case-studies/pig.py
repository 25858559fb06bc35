"""Pig: from holding at twenty to the optimal policy, and to rules that people can use."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray
from study import Page, certified, percent, points, power, printed, run, where

import rollwise
from rollwise import Policy, Solution
from rollwise.answer.evaluation import BestResponse, Evaluation
from rollwise.games.pig import HOLD, ROLL, Pig
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.style import BLUE
from rollwise.simulate import simulate

TITLE = "How good is hold-at-20 in Pig?"
STEP = (
    "from one evaluated policy to the best answer to it, the optimal policy with a proof, and "
    "rules to remember, each with its loss"
)
HELD = 20
TURNS = "turn == 0 or turn == 10 or turn == 19"
GAMES, SEED = 100_000, 1


def study(page: Page) -> None:
    target = 50 if page.small else 100
    solution = rollwise.solve(Pig(target=target))
    graph = solution.graph
    holds = hold_at(solution, HELD)
    page.text(f"# {TITLE}")
    page.text(f"**A step further than the source: {STEP}.**")
    page.text(f"""
        After the notebook
        [*Solving the Dice Game Pig with Dynamic Programming*](https://github.com/Auxeno/pig-dynamic-programming),
        which evaluates one policy: hold at {HELD}. ([All sources](../sources.md))

        Roll as often as you like and add up; a 1 loses the points of the turn and passes the die;
        hold banks them. The first player with {target} points wins. A position is (i, j, k): the
        mover's points, the opponent's, and those at risk.
    """)
    itself = rollwise.evaluate(graph, holds)
    evaluation(page, solution, holds, itself)
    two_agents(page)
    response = rollwise.best_response(graph, holds)
    improvement(page, solution, holds, itself, response)
    shape(page, solution)
    rules(page, solution)
    page.text("""
        ## Corrected in the source

        - The agent of the notebook overwrites its own rule, and the number printed for (50, 50, 10)
          is no win probability: see above.
        - The array of one cell ends at 104 points and that of another at 105, which a player with
          99 reaches by throwing a 6.
        - "If the player's score is 100 or more" must read i + k in the description of the policy,
          as the program has it.
    """)


def hold_at(solution: Solution, points_held: int) -> Policy:
    """Hold from so many points on, and where that wins."""
    i, _, k = solution.graph.states.T
    wins = i + k >= solution.game.target
    return where(solution.graph, f"hold at {points_held}", (k >= points_held) | wins, HOLD, ROLL)


def evaluation(page: Page, solution: Solution, holds: Policy, itself: Evaluation) -> None:
    """The source's policy evaluation."""
    source = printed("pig")
    graph = solution.graph
    state = source["state"] if not page.small else [20, 20, 10]
    s = solution.find(state)
    theta = source["theta"]
    orders = ("reversed", "forward")
    swept = {
        order: rollwise.evaluate(graph, holds, method="iterative", theta=theta, order=order)
        for order in orders
    }
    once = rollwise.evaluate(
        graph, holds, method="iterative", order="synchronous", max_sweeps=1, theta=theta
    )
    assert itself.bounds is not None
    page.text(f"""
        ## {holds.name[0].upper()}{holds.name[1:]} against itself

        The notebook sweeps backwards over all positions from a probability of 0 until none changes
        by more than θ = {power(Decimal(repr(theta)))}. The game has cycles, so this is an
        iteration. The same, and the exact solution:
    """)
    place = "({}, {}, {})".format(*state)
    rows = []
    for name, found in (
        ("one sweep from zero", once),
        ("backwards, to θ", swept["reversed"]),
        ("forwards, to θ", swept["forward"]),
        ("exact", itself),
    ):
        error = float(np.max(np.abs(found.win_probability - itself.win_probability)))
        chances = (found.win_probability[s], found.win_probability[0])
        says = power(error, 1) if found is not itself else power(float(itself.bounds.max()) / 2)
        sweeps = str(found.sweeps) if found is not itself else "–"
        rows.append([name, sweeps, *[f"{chance:.9f}" for chance in chances], says])
    rows[-1][-1] = f"± {rows[-1][-1]}, proved"
    page.table(["", "sweeps", f"chance at {place}", "at the start", "largest error"], rows)
    if not page.small:
        page.text(f"""
            The notebook prints {source["one_sweep"]} for {place}, after a single update from zero,
            as in the first row: the probability of a 1, after which the opponent's probability 0
            counts as a sure win. The true probability is
            {percent(itself.win_probability[s])}. [Environments](../environments.md) shows the
            notebook's environment, and [export](../export.md) its array V[i, j, k].
        """)
    figure = solution.plot("convergence", policy=holds, theta=theta)
    off = [float(np.max(np.abs(swept[o].win_probability - itself.win_probability))) for o in orders]
    page.text(f"""
        The notebook's only figure shows the largest change of each sweep (dotted), here with the
        true error. When the change falls below θ, the error is {off[0] / theta:.2g} θ after
        backward sweeps and {off[1] / theta:.2g} θ after forward sweeps. A stopping threshold is no
        error bound.
    """)
    page.figure("evaluation", figure, f"Change and true error by sweep, {holds.name}")
    shown = replace(solution, values=itself.values, error_bounds=itself.bounds)
    figure = shown.plot("value", x="banked", y="rival", where=TURNS)
    page.text(f"""
        Win probabilities if both play {holds.name}, for some numbers of points at risk:
    """)
    alt = (
        f"Chance to win in each position if both play {holds.name}: it grows with the mover's "
        "points and falls with the other's"
    )
    page.figure("value", figure, alt)


def two_agents(page: Page) -> None:
    """The notebook's agent, which overwrites its own rule, and its twin, which does not."""
    target = 50 if page.small else 100
    bank = rollwise.solve(Pig(target=target, must_bank=True))
    graph = bank.graph
    careful = hold_at(bank, 20)
    blind = where(graph, "hold at 20, blindly", graph.states[:, 2] >= 20, HOLD, ROLL)
    played = rollwise.evaluate(graph, careful, blind)
    games = 2_000 if page.small else GAMES
    match = simulate(graph, careful, blind, games=games, seed=SEED, exact=False)
    exploited = rollwise.best_response(graph, blind).exploitability() / 2
    page.text(f"""
        ## The notebook's agent

        The agent is meant to hold if that wins, but the next `if` overwrites this rule: it rolls on
        below 20 with {target} points in hand. The notebook's points must be banked
        (`must_bank=true`), so this costs games. `hold-at-20` against the agent, exactly and
        simulated ({games:,} games, seed {SEED}, ± standard error):
    """)
    rows = []
    for side, chance, seat in zip(
        match.sides,
        (played.win_probability[0], played.win_probability_second[0]),
        ("first", "second"),
        strict=True,
    ):
        rate = side.win_rate
        assert rate is not None
        mean = rate.mean if seat == "first" else 1 - rate.mean
        rows.append(
            [
                f"moving {seat}",
                percent(chance, 4),
                percent(mean),
                f"± {points(rate.standard_error, 2)}",
            ]
        )
    page.table(["hold-at-20 wins", "exactly", "simulated", ""], rows)
    page.text(f"""
        A best response to the agent gains {points(exploited)} percentage points.
    """)


def improvement(
    page: Page,
    solution: Solution,
    holds: Policy,
    itself: Evaluation,
    response: BestResponse,
) -> None:
    """Best response and optimal policy."""
    graph = solution.graph
    meets = rollwise.evaluate(graph, solution.policy, holds)
    assert response.bounds is not None
    assert meets.bounds is not None
    again = rollwise.best_response(graph, response.response)
    bound = max(float(b.max()) for b in (solution.error_bounds, response.bounds, meets.bounds)) / 2
    page.text(f"""
        ## Better, and best

        A *best response* wins most against a known policy. The *optimal* policy is its own best
        response. All figures are certified to ± {power(bound)}.
    """)

    def row(name: str, first: float, second: float) -> list[str]:
        return [name, percent(first, 4), percent(second, 4), percent((first + second) / 2, 4)]

    page.table(
        ["policy", "wins moving first", "moving second", "on average"],
        [
            row(
                f"{holds.name} against itself",
                float(itself.win_probability[0]),
                float(itself.win_probability_second[0]),
            ),
            row(
                f"best response against {holds.name}",
                float(response.win_probability[0]),
                float(response.win_probability_second[0]),
            ),
            row(
                f"optimal against {holds.name}",
                float(meets.win_probability[0]),
                float(meets.win_probability_second[0]),
            ),
            row(
                "optimal against itself",
                float(solution.win_probability or 0),
                1 - float(solution.win_probability or 0),
            ),
        ],
    )
    page.text(f"""
        The policy that exploits {holds.name} can itself be exploited for
        {points(again.exploitability() / 2)} percentage points; the optimal policy cannot. The first
        of two perfect players wins with probability
        {certified(float(solution.win_probability or 0), solution.error_bound / 2)}.
    """)
    if not page.small:
        first, second, mean = printed("pig")["neller_presser"]
        wins = (response.win_probability[0], response.win_probability_second[0])
        assert (percent(wins[0]), percent(1 - wins[1])) == (f"{first} %", f"{second} %")
        assert percent(sum(wins) / 2) == f"{mean} %"
        page.text(f"""
            Neller and Presser (2004) give {first} %, {second} % and {mean} % for optimal play
            against hold-at-20, moving first, second and on average. These figures belong to the
            best response: its probability moving first, the one it leaves to hold-at-20 moving
            first, and its mean. Those of the optimal policy are smaller.
        """)


def shape(page: Page, solution: Solution) -> None:
    """The surface between rolling and holding."""
    graph = solution.graph
    i, j, k = graph.states.T.astype(np.int64)
    target = solution.game.target
    level = boundary(solution)
    finite = level[level > 0]
    pairs = len(np.unique(i * target + j))
    rolls = (graph.action_label[solution.best_actions] == ROLL) & (i + k < target)
    again = len(np.unique((i * target + j)[rolls & (level[i, j] > 0) & (k > level[i, j])]))
    page.text(f"""
        ## The shape of the optimal policy

        For each pair of scores one should hold from some number of points at risk on. The surface
        of these numbers, with the flat {HELD} in orange:
    """)
    figure = solution.plot("surface")
    alt = (
        "Pig: the surface above which the optimal policy holds, a sheet near twenty points at "
        "risk that ends in steep walls, behind which it is never right to hold"
    )
    page.figure("surface", figure, alt)
    start = int(level[0, 0])
    page.text(f"""
        At 0 to 0 one holds from {start} on. Holding before a win is right from {int(finite.min())}
        to {int(finite.max())} points at risk, median {np.median(finite):.0f}. In
        {pairs - len(finite):,} of the {pairs:,} reachable pairs of scores it never is. In {again:,}
        the surface has an overhang: with still more at risk the goal is near enough to roll for it.

        The same as maps for some numbers of points at risk, and the cost of a mistake:
    """)
    cut = "turn == 15 or turn == 20 or turn == 25"
    page.figure(
        "policy",
        solution.plot("policy", x="banked", y="rival", where=cut),
        "Pig: where to roll and where to hold; the region where one holds grows with the points at "
        "risk, and one rolls where the other player is near the goal",
    )
    page.figure(
        "regret",
        solution.plot("regret", x="banked", y="rival", where=cut),
        "Pig: what the wrong action costs; little along the boundary between the two actions, and "
        "more the farther from it",
    )


def boundary(solution: Solution) -> NDArray[np.int64]:
    """From how many points at risk to hold, by both scores; 0 where never before winning."""
    i, j, k = solution.graph.states.T
    target = solution.game.target
    holds = (solution.graph.action_label[solution.best_actions] == HOLD) & (i + k < target)
    level = np.full((target, target), 10_000)
    np.minimum.at(level, (i[holds], j[holds]), k[holds])
    return np.where(level == 10_000, 0, level)


def rules(page: Page, solution: Solution) -> None:
    """What rules that a person can use lose against the optimal policy."""
    graph, target = solution.graph, solution.game.target
    i, j, k = graph.states.T.astype(np.int64)
    wins = i + k >= target
    low, high = (19, 21) if page.small else (18, 27)
    against = {n: loss(solution, hold_at(solution, n)) for n in range(low, high + 1)}
    best = min(against, key=lambda n: against[n])
    nearly = int(0.71 * target)
    pace = 21  # at equal scores
    late = (i >= nearly) | (j >= nearly)
    rule = {
        f"hold at {HELD}": k >= HELD,
        f"hold at {best}": k >= best,
        f"hold at {HELD}, but roll to win once a player has {nearly}": (k >= HELD) & ~late,
        f"hold at {best}, but roll to win once a player has {nearly}": (k >= best) & ~late,
        "keep pace and end race": (k >= pace + (j - i + 4) // 8) & ~late,
    }
    rows = []
    for name, condition in rule.items():
        policy = where(graph, name, condition | wins, HOLD, ROLL)
        response = rollwise.best_response(graph, policy)
        rows.append([name, points(loss(solution, policy)), points(response.exploitability() / 2)])
    page.text("""
        ## Rules for people

        The loss of *hold at n* against the optimal policy, in percentage points on average of both
        seats:
    """)
    numbers = list(against)
    figure = draw_lines(
        [Line("hold at n", numbers, [100 * against[n] for n in numbers], BLUE)],
        title=f"Pig to {target}: what hold at n loses to the optimal policy",
        notes=["On average of both seats."],
        x_title="n",
        y_title="loss (percentage points)",
        baseline=True,
    )
    alt = f"The loss of holding at n to the optimal policy, by n: it is least at n = {best}"
    page.figure("hold-at-n", figure, alt)
    page.text(f"""
        **{best} is the best of them**, and loses {points(against[best])} where {HELD} loses
        {points(against[HELD])}. *Keep pace and end race* is Neller and Presser's rule (2010,
        *Practical Play of the Dice Game Pig*): hold at {pace} plus an eighth of the deficit,
        rounded, and roll to win once a player has {nearly}.
    """)
    page.table(["rule", "loss to optimal play", "loss to a best response"], rows)


def loss(solution: Solution, policy: Policy) -> float:
    """What a policy's chance to win falls short of a half against optimal play."""
    found = rollwise.evaluate(solution.graph, policy, solution.policy)
    return 0.5 - float(found.win_probability[0] + found.win_probability_second[0]) / 2


def main(arguments: list[str] | None = None) -> None:
    """Make the page."""
    run("pig", study, arguments)


if __name__ == "__main__":
    main()
