"""The family of Super Six: other rules, other lids, and what it is worth to begin."""

from __future__ import annotations

import json
import math
import tomllib
from typing import Any

import numpy as np
import super_six_edges
from study import HERE, Page, best_labels, has_choice, log_axes, named_ticks, percent, power, run
from super_six_limit import Limit, limit_of

import rollwise
from rollwise import Solution
from rollwise.games.super_six import STOP, THROW, SuperSix
from rollwise.methods import run_method
from rollwise.methods.result import fraction_text
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.style import BLUE, GREY, ORANGE
from rollwise.simulate.match import expected_lengths

WIDE = HERE / "super_six_10000.json"  # what the command printed

TITLE = "How do other rules and more sticks change Super Six?"
VERSIONS: dict[str, dict[str, Any]] = {
    "as published": {},
    "one throw each in the first round": {"one_each": True},
    "one may never stop": {"may_stop": 0},
    "one may always stop": {"may_stop": 2},
    "a full hole costs all sticks in the lid": {"take_all": True},
    "the sixth hole has a bottom": {"bottom": True},
}


def study(page: Page) -> None:
    page.text(f"# {TITLE}")
    page.text("""
        **A step further than the source: versions of the rules are parameters, Jehn's codes are
        compared with ours, and the first player's edge is followed to thousands of sticks, with its
        limit.**
    """)
    page.text("""
        After M. Höhle, *Dynamic Programming for Super Six Gameplay* (2023), *Solving Super Six*
        (2024), and R. Jehn, *Optimum Strategies for the Game Super Six* (2021). [The first
        study](super_six_value_iteration.md) has the rules.
    """)
    versions(page)
    jehn(page)
    lids(page)
    edge(page)


def versions(page: Page) -> None:
    """The versions of the rules."""
    few, many = (6, 10) if page.small else (10, 40)
    rows = []
    for name, given in VERSIONS.items():
        small, large = (rollwise.solve(SuperSix(sticks=n, **given)) for n in (few, many))
        assert isinstance(large.game, SuperSix)
        assert max(small.error_bound, large.error_bound) < 1e-9
        typed = " ".join(f"{key}={str(value).lower()}" for key, value in given.items())
        chances = [percent(chance_of(solution)) for solution in (small, large)]
        rows.append([name, f"`{typed}`" if typed else "", *chances, turns(large), stopping(large)])
    page.text(f"""
        ## Versions of the rules

        *Solving Super Six* mentions versions of the rules. They are parameters. One throw each in
        the first round is Höhle's description in an earlier post and the rule of manufacturers. A
        full hole that costs all sticks is the riskier version in the German Wikipedia. If players
        may always stop, endless play is a draw. Probabilities are certified; turns are the mean of
        a game with {many} sticks. The last column lists the sticks in the lid with which stopping
        is somewhere right:
    """)
    head = ["version", "", *[f"first player, {n} sticks" for n in (few, many)]]
    page.table([*head, "turns", f"stops at ({many} sticks)"], rows, words=2)


def chance_of(solution: Solution) -> float:
    """The first player's chance to win."""
    assert solution.win_probability is not None
    return solution.win_probability


def turns(solution: Solution) -> str:
    """How long a game is."""
    assert isinstance(solution.game, SuperSix)
    if solution.game.endless != "forbidden":
        return "may never end"
    return f"{expected_lengths(solution.graph, solution.policy)[0][0].value:.1f}"


def stopping(solution: Solution) -> str:
    """With how many sticks in the lid it is right to stop somewhere."""
    lids = sorted(first_stops(solution))
    return ", ".join(map(str, lids)) if lids else "never"


def first_stops(solution: Solution) -> dict[int, int]:
    """For each lid with which one should stop somewhere, the fewest sticks in the game."""
    stops = has_choice(solution) & (best_labels(solution) == STOP)
    lid, mine, theirs, _ = solution.graph.states[stops].T
    total = lid + mine + theirs
    return {int(k): int(total[lid == k].min()) for k in np.unique(lid)}


def jehn(page: Page) -> None:
    """The codes of Jehn's strategy, and the numbers of his figure 4."""
    known = tomllib.loads((HERE.parent.parent / "tests" / "answers.toml").read_text())
    codes = known["super-six-codes"]["codes"]
    solution = rollwise.solve(SuperSix(sticks=len(codes)))
    same = sum(code(solution, n) == printed for n, printed in enumerate(codes, 1))
    numerators = known["super-six-codes"]["numerators"][: 2 if page.small else None]
    exact = run_method(
        rollwise.solve(SuperSix(sticks=3 + 2 * len(numerators))).graph, "exact"
    ).fractions
    graph = rollwise.solve(SuperSix(sticks=3 + 2 * len(numerators))).graph
    assert exact is not None
    found = [(1 + exact[graph.find((3, n, n, 1))]) / 2 for n in range(1, len(numerators) + 1)]
    right = sum(str(x.numerator) == text for x, text in zip(found, numerators, strict=True))
    page.text(f"""
        ## Jehn's strategy and his figure 4

        Jehn wrote the strategy for each number of sticks as a binary number, with a digit for each
        situation: 1 for throwing on ([OEIS A345383](https://oeis.org/A345383), up to 15 sticks).
        **{same} of his {len(codes)} codes are ours.** His win probabilities with three sticks in
        the lid and equal hands ([A349697](https://oeis.org/A349697), exact fractions) agree in
        {right} of {len(numerators)}; the second is `{fraction_text(found[1])}`.

        We have only the beginning of Jehn's paper, so his figure 4 is not compared. The win
        probability of throwing and of stopping with seven sticks, in Jehn's order:
    """)
    alt = "Chance to win by throwing on and by stopping, in all situations with seven sticks"
    page.figure("situations", situations(7), alt)


def situations_of(sticks: int) -> list[tuple[int, int, int]]:
    """The situations with a choice, in Jehn's order."""
    return [
        (lid, mine, sticks - lid - mine)
        for lid in range(min(sticks, 5), 0, -1)
        for mine in range(sticks - lid - 1, 0, -1)
    ]


def code(solution: Solution, sticks: int) -> int:
    """Jehn's code of the strategy for so many sticks."""
    labels = best_labels(solution)
    throws = (labels[solution.find((*place, 0))] == THROW for place in situations_of(sticks))
    return sum(2**i for i, throw in enumerate(throws) if throw)


def choice_at(solution: Solution, place: tuple[int, int, int]) -> tuple[float, float]:
    """The chances to win by throwing and by stopping."""
    begin, end = solution.graph.action_indptr[solution.find((*place, 0)) :][:2]
    throw, stop = (1 + solution.action_values[begin:end]) / 2
    assert solution.graph.action_label[begin:end].tolist() == [THROW, STOP]
    return float(throw), float(stop)


def situations(sticks: int) -> Any:
    """A picture of both choices in all situations."""
    solution = rollwise.solve(SuperSix(sticks=sticks))
    places = situations_of(sticks)
    lines = []
    for lid in range(5, 0, -1):
        some = [(i, choice_at(solution, p)) for i, p in enumerate(places) if p[0] == lid]
        x = [i for i, _ in some]
        for k, (key, colour) in enumerate((("throw on", BLUE), ("stop", ORANGE))):
            y = [100 * both[k] for _, both in some]
            best = [both[k] == max(both) for _, both in some]
            lines.append(Line(f"{key}, {lid}", x, y, colour, filled=best, key=key))
    figure = draw_lines(
        lines,
        title=f"{sticks} sticks: throw on, or stop",
        notes=["Each position has two marks. The larger one is the better choice."],
        x_title="lid/mine/theirs",
        y_title="chance to win (%)",
    )
    return named_ticks(figure, "x", ["/".join(map(str, place)) for place in places])


def lids(page: Page) -> None:
    """Other numbers of holes."""
    most = 16 if page.small else 60
    rows = []
    for holes in (4, 6) if page.small else (3, 4, 5, 6, 8, 10):
        far = limit_of(SuperSix(holes=holes))
        first = first_stops(rollwise.solve(SuperSix(sticks=most, holes=holes)))
        full = ", ".join(f"{lid} from {first[lid]}" for lid in sorted(first, reverse=True))
        shown = f"{float(far.lead):.4f}", f"{far.edge():.4f}"
        rows.append([str(holes), full, str(min(far.stops)), *shown])
    kept = edges()
    low = [lid for lid, sticks in kept["first_stops"].items() if int(lid) < 3 and sticks]
    page.text(f"""
        ## Other lids, and when it is first right to stop

        Sticks in the lid with which stopping is right, each with the fewest sticks in the game (up
        to {most}); the sticks in the lid from which one stops with very many sticks; the value of
        beginning, in sticks; and the limit of edge × √sticks (see below):
    """)
    head = ["holes", "stop with", "very many", "worth of beginning", "limit"]
    page.table(head, rows, words=2)
    page.text(f"""
        **With fewer than three in the lid it is {"never" if not low else "NOT never"} better to
        stop in the published game, in any position of up to {sticks_of(kept):,} sticks** (within
        the certified error of {power(kept["error_bound"])}), nor with very many sticks.
    """)


def edges() -> dict[str, Any]:
    """What was found for very many sticks."""
    found: dict[str, Any] = json.loads(super_six_edges.FILE.read_text(encoding="utf-8"))
    return found


def sticks_of(kept: dict[str, Any]) -> int:
    """How many sticks the large game had."""
    return max(row[0] for row in kept["rows"] if row[0] % 2 == 0)


def edge(page: Page) -> None:
    """How the first player's edge falls, and why."""
    kept = edges()
    most = sticks_of(kept)
    checked = hold(kept, 20 if page.small else 400)
    published = limit_of(SuperSix())
    page.text(f"""
        ## How the first player's edge falls

        The edge is the first player's win probability less a half. `{kept["made_by"]}` solved
        {most:,} sticks by layers ({kept["states"]:,} states, {kept["seconds"]:,} s and
        {kept["gigabytes"]} GB), and with it every smaller game. Its answers are in
        [super_six_edges.json](super_six_edges.json) and agree with {checked} games solved for this
        page.
    """)
    wide = json.loads(WIDE.read_text(encoding="utf-8"))
    n = wide["parameters"]["sticks"]
    value, bound = (wide[name] / 2 * math.sqrt(n) for name in ("value", "error_bound"))
    page.text(f"""
        The command `rollwise solve super-six sticks={n} --by-layer --set keep=start --json` wrote
        [{WIDE.name}]({WIDE.name}) from {wide["states"]:,} states: edge × √sticks is {value:.7f}
        (certified ± {power(bound)}). Edge × √sticks:
    """)
    even = {n: (value, bound) for n, value, bound in kept["rows"] if n % 2 == 0}
    shown = [n for n in (10, 40, 100, 400, 1000, 2000, 4000) if n in even] + [most]
    scaled = {
        n: (value / 2 * math.sqrt(n), bound / 2 * math.sqrt(n))
        for n, (value, bound) in even.items()
    }
    rows = [[f"{n:,}" for n in dict.fromkeys(shown)]]
    page.table(
        ["sticks", *rows[0]],
        [
            ["edge × √sticks", *[f"{scaled[n][0]:.7f}" for n in dict.fromkeys(shown)]],
            ["certified to ±", *[power(scaled[n][1]) for n in dict.fromkeys(shown)]],
        ],
    )
    page.figure(
        "edge", edge_figure(kept, published), "Edge times the root of the sticks, by sticks"
    )
    reason(page, published)
    against(page, scaled)
    others(page)


def hold(kept: dict[str, Any], most: int) -> int:
    """Hold what was kept against games solved anew; how many there were."""
    solution = rollwise.solve(SuperSix(sticks=most))
    rows = [row for row in kept["rows"] if row[0] <= most]
    for n, value, bound in rows:
        s = solution.find((0, n // 2, n - n // 2, 1))
        assert abs(solution.values[s] - value) <= bound + solution.error_bounds[s]
    return len(rows)


def edge_figure(kept: dict[str, Any], far: Limit) -> Any:
    """The edge by the number of sticks, and its limits."""
    lines = []
    for odd, colour, name in ((0, BLUE, "even numbers of sticks"), (1, ORANGE, "odd numbers")):
        rows = [(n, v / 2 * math.sqrt(n)) for n, v, _ in kept["rows"] if n % 2 == odd and n > 5]
        x, y = zip(*rows, strict=True)
        lines.append(Line(name, x, y, colour))
        along = np.geomspace(x[0], x[-1], 200).tolist()  # so many that they get no marks
        limit = [far.edge(odd)] * len(along)
        lines.append(Line(f"limit, {name}", along, limit, GREY, dash="dot", key="limit"))
    figure = draw_lines(
        lines,
        title="The first player's edge",
        notes=["Edge: the chance of who begins, less a half. Dotted: its limit by the argument."],
        x_title="sticks in the game",
        y_title="edge × √sticks",
        baseline=True,
    )
    return log_axes(figure, "x")


def reason(page: Page, far: Limit) -> None:
    """Why there is a limit, and which."""
    assert far.spread is not None
    lids = sorted(far.visits)
    worth = [f"`{fraction_text(far.worth[lid, 1])}`" for lid in lids]
    numbers = [f"{float(far.worth[lid, 1]):+.4f}" for lid in lids]
    best = ["stop" if lid in far.stops else "throw on" for lid in lids]
    page.text("""
        **The limit is known.** With very many sticks only the *lead* counts: the opponent's sticks
        minus mine. A throw is then worth a number of sticks, w, that depends on the lid alone: the
        mean of its gains and of the following value, with the opposite sign after a pass. The mover
        throws on if w is positive. These are six equations, solved in fractions:
    """)
    page.table(
        ["sticks in the lid", *map(str, lids)],
        [["w", *worth], ["", *numbers], ["may choose", *best]],
    )
    turn = first_stops(rollwise.solve(SuperSix(sticks=16)))[3]
    page.text(f"""
        With three in the lid w is barely negative, and stopping is right from {turn} sticks on.

        The lead plus w is a martingale. Its steps have the same distribution throughout the game,
        because the lid changes by the same probabilities for all choices: it is the urn of
        Ehrenfest and Ehrenfest (1907). The mean square of a step, for each stick that leaves the
        game, is `{fraction_text(far.spread)}` = {float(far.spread):.5f}. After n sticks the lead is
        nearly normal with the variance {float(far.spread):.5f} n (central limit theorem for
        martingales, Hall and Heyde 1980) and the mean w of the empty lid, {float(far.lead):.5f},
        the value of beginning. The leader at the end has won:

        first player's probability − ½ ≈ w / √(2π · {float(far.spread):.5f} · sticks) =
        **{far.edge():.7f} / √sticks**

        With an odd number of sticks the first player leads by w + 1, and the limit is
        {far.edge(1):.7f}. This is an argument, not a proof; the certified numbers support it.
    """)


def against(page: Page, scaled: dict[int, tuple[float, float]]) -> None:
    """The limit that the numbers have, to compare with the one of the argument."""
    most = max(scaled)
    nodes = dict.fromkeys(most * k // 8 // 100 * 100 for k in (8, 6, 4, 3, 2, 1))
    nodes = [n for n in nodes if n in scaled]
    found, bound = extrapolated({n: scaled[n] for n in nodes})
    page.text(f"""
        A polynomial in 1/sticks through {len(nodes)} games of {nodes[-1]:,} to {nodes[0]:,} sticks
        has the limit {found:.9f} (estimated; the certified numbers leave ± {power(bound)}).
    """)


def extrapolated(points: dict[int, tuple[float, float]]) -> tuple[float, float]:
    """The value at infinity of the polynomial in 1/n through some points, and its bound."""
    total = bound = 0.0
    for n, (value, off) in points.items():
        weight = math.prod(n / (n - m) for m in points if m != n)
        total += weight * value
        bound += abs(weight) * off
    return total, bound


def others(page: Page) -> None:
    """The same argument for other versions."""
    best = VERSIONS["one throw each in the first round"]
    fair = float(limit_of(SuperSix(**best)).lead / limit_of(SuperSix()).lead)
    page.text(f"""
        One throw each in the first round leaves {percent(fair, 0)} of the first player's edge. With
        a bottom in the sixth hole the game is the gambler's ruin, and the edge falls like 1/sticks.
        If players may always stop, the argument fails, because a draw is not worth a number of
        sticks.
    """)


def main(arguments: list[str] | None = None) -> None:
    """Make the page."""
    run("super_six_family", study, arguments)


if __name__ == "__main__":
    main()
