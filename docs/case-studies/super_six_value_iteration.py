"""Super Six by value iteration: seven sticks as published, then very many."""

from __future__ import annotations

import re
import tomllib

import numpy as np
from numpy.typing import NDArray
from study import (
    HERE,
    Page,
    best_labels,
    has_choice,
    percent,
    points,
    power,
    run,
    where,
)

import rollwise
from rollwise import Policy, Solution
from rollwise.games.super_six import STOP, THROW, SuperSix
from rollwise.methods import run_method
from rollwise.methods.result import fraction_text
from rollwise.plot.kinds.error import MOST_SWEEPS
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.style import BLUE, GREEN, ORANGE, RED

THRESHOLD = 1e-10  # of the source
TITLE = "How good is value iteration in Super Six?"
STEP = (
    "the answer is proved, the method's true error is shown beside its stopping threshold, and the "
    "published strategy is followed to games of many sticks, where it turns out to change"
)


def study(page: Page) -> None:
    many = 20 if page.small else 130
    seven = rollwise.solve(SuperSix(sticks=7))
    large = rollwise.solve(SuperSix(sticks=many))
    page.text(f"# {TITLE}")
    page.text(f"**A step further than the source: {STEP}.**")
    page.text("""
        After M. Höhle,
        [*Dynamic Programming for Super Six Gameplay*](https://mhoehle.github.io/blog/2023/03/20/dynprog.html)
        (2023), a solution for two players and seven sticks.
        ([All sources](../sources.md))

        A lid has six holes. You throw a die and put a stick into the hole of that number; if a
        stick is there already, you take it, and your turn is over. Hole six has no bottom: its
        stick leaves the game. After each stick that you get rid of you may throw again or stop. The
        first player without sticks wins. A position is written *lid/mine/theirs*: sticks in the
        lid, the mover's and the opponent's.
    """)
    seven_sticks(page, seven)
    thresholds(page, seven, large)
    more_sticks(page, large)
    rules_of_thumb(page, large)
    page.text("""
        ## Corrected in the source

        - The list of transitions lets the mover keep a stick that goes into a free hole. Correct:
          lid + 1, mine − 1. (The source's program is right.)
        - The value of stopping is printed as if a stick were taken, and without the minus sign. It
          is minus the value of lid/theirs/mine with the opponent about to throw.
        - The condition for a win of player 2 has i, the lid, instead of j, the mover's sticks.
        - Step b of Algorithm 1 compares U(s′) with U(s), two different positions. It should compare
          U′(s) with U(s).
        - The formulas for π* and π contain a superfluous max over the actions at s′.
    """)


def seven_sticks(page: Page, seven: Solution) -> None:
    """The source's table and its figure."""
    known = tomllib.loads((HERE.parent.parent / "tests" / "answers.toml").read_text())
    source = known["super-six-7"]
    swept = run_method(seven.graph, "value-iteration", epsilon=THRESHOLD)
    exact = run_method(seven.graph, "exact")
    assert exact.fractions is not None
    assert seven.win_probabilities is not None
    rows, close, agree = [], 0, 0
    for *fields, forced, value, throws, chance in source["rows"]:
        s = seven.find((*fields, forced))
        action = "throw" if best_labels(seven)[s] == THROW else "stop"
        close += rounds_to(seven.values[s], value) + rounds_to(seven.win_probabilities[s], chance)
        agree += (action == "throw") == throws
        turn = "must throw" if forced else "may stop"
        found = fraction_text((1 + exact.fractions[s]) / 2)
        cells = [f"{seven.values[s]:.8f}", f"{seven.win_probabilities[s]:.7f}", f"`{found}`"]
        row = ["/".join(map(str, fields)), turn, action, *cells]
        if rows and rows[-1][0] == row[0] and rows[-1][2:] == row[2:]:
            rows[-1][1] = "either"  # a choice changes nothing
        else:
            rows.append(row)
    page.text(f"""
        ## Seven sticks

        Value iteration looks one move ahead from every position until no value changes by more than
        10⁻¹⁰, the source's threshold. That took {swept.sweeps} sweeps (`rollwise solve super-six
        sticks=7 --method value-iteration`). Positions with at least three sticks in the lid, the
        best first action, the value, and the win probability, also as a fraction:
    """)
    head = ["position", "turn", "best", "value", "chance to win", "exactly"]
    page.table(head, rows, words=3)
    few = has_choice(seven) & (seven.graph.states[:, 0] < 3)
    always = np.all(best_labels(seven)[few] == THROW)
    printed = len(source["rows"])
    page.text(f"""
        The values are certified to ± {power(seven.error_bound)}. {agree} of the source's
        {printed} actions agree, and {close} of its {2 * printed} numbers to the last digit. With
        fewer than three sticks in the lid the best action is
        {"always" if always else "NOT always"} to throw.

        All positions with a choice, with the win probability in percent:
    """)
    figure = seven.plot("policy", where="forced == 0", x="mine", y="theirs")
    alt = (
        "Super Six with 7 sticks: throw with up to three in the lid, stop with five, and with four "
        "stop unless both players have one stick"
    )
    page.figure("seven", figure, alt)
    page.text("""
        The source's own figure has i, the sticks in the lid, upwards, and a box for each position
        (`rollwise plot super-six boxes sticks=7 --where "forced == 0"`):
    """)
    figure = seven.plot("boxes", where="forced == 0")
    alt = (
        "Super Six with 7 sticks, a box for each position: all are throws but 5/1/1, 4/1/2 and "
        "4/2/1"
    )
    page.figure("boxes", figure, alt)


def thresholds(page: Page, seven: Solution, large: Solution) -> None:
    """What the stopping threshold says of the error."""
    page.text("""
        ## The threshold is not the error

        The remaining error of values after the source's stopping rule. *Synchronous* sweeps read
        the values of the sweep before, as the source's program does; sweeps *in place* start with
        the positions that end the game:
    """)
    rows = []
    for solution in (seven, large):
        for name, order in (("synchronous", "synchronous"), ("in place", "components")):
            found = run_method(solution.graph, "value-iteration", epsilon=THRESHOLD, order=order)
            error = float(np.max(np.abs(found.values - solution.values)))
            row = [str(solution.game.sticks), name, f"{found.sweeps:,}"]
            rows.append([*row, power(error, 1), f"{error / THRESHOLD:.2g}"])
    page.table(["sticks", "sweeps", "how many", "true error", "error / threshold"], rows, words=2)
    sound = run_method(seven.graph, "value-iteration", sound=True, epsilon=THRESHOLD)
    page.text(f"""
        With more sticks a small change hides a larger error. Two sequences, one below and one above
        the values, give a proof (`--set sound=yes`): with seven sticks half their distance is
        {power(sound.claimed_error)} after {sound.sweeps} sweeps.
    """)
    middle = rollwise.solve(SuperSix(sticks=10 if page.small else 40))
    alt = (
        f"Change and true error of value iteration by sweep, {middle.game.sticks} sticks: sweeps "
        "in place fall steeply, synchronous ones slowly, and their error stays above the change"
    )
    figure = middle.plot("convergence")
    cut = any("stopped after" in (trace.name or "") for trace in figure.data)
    ends = f"The drawing ends after {MOST_SWEEPS} sweeps" if cut else "All sweeps are drawn"
    page.text(f"""
        The largest change of each sweep (dotted) and the largest true error; `components` are
        sweeps in place. {ends}:
    """)
    page.figure("convergence", figure, alt)


def more_sticks(page: Page, large: Solution) -> None:
    """How long the published strategy holds."""
    graph = large.graph
    lid, mine, theirs, _ = graph.states.T
    total = lid + mine + theirs
    choice = has_choice(large)
    label = best_labels(large)
    assert large.win_probabilities is not None
    page.text(f"""
        ## More sticks

        One solution of {large.game.sticks} sticks ({graph.n_states:,} positions, certified to ±
        {power(large.error_bound)}) contains all smaller games. The first player's edge shrinks
        ([why](super_six_family.md)); with an odd number of sticks the first player begins with one
        stick less:
    """)
    counts = [n for n in (2, 4, 6, 7, 10, 15, 20, 40, 100, 130) if n <= large.game.sticks]
    chance = {n: large.win_probabilities[opening(large, n)] for n in counts}
    page.table(
        ["sticks", *map(str, counts)], [["first player wins", *map(percent, chance.values())]]
    )
    stops = choice & (lid == 3) & (label == STOP)
    turn = int(total[stops].min())
    examples = graph.states[stops & (total == turn)][:, :3].tolist()
    as_published = (lid >= 5) | ((lid == 4) & ~((mine == 1) & (theirs == 1)))
    differs = choice & (as_published != (label == STOP))
    assert np.all(lid[differs] == 3)
    low = choice & (lid < 3)
    page.text(f"""
        The source's strategy for seven sticks: stop with five in the lid, stop with four unless the
        position is 4/1/1, else throw. Up to {turn - 1} sticks that is right. **With {turn} sticks
        it changes for the first time:** with three in the lid one should stop in {len(examples)}
        positions, {listed(examples)}. All else stays: with fewer than three in the lid one always
        throws ({"true" if np.all(label[low] == THROW) else "FALSE"} for all {low.sum():,} such
        positions up to {large.game.sticks} sticks), and 4/1/1 is the only exception with four.
    """)
    top = min(large.game.sticks, 40)
    small = rollwise.solve(SuperSix(sticks=top))
    figure = small.plot("policy", where="forced == 0 and lid == 3", x="mine", y="theirs")
    alt = (
        f"Three sticks in the lid, up to {top} sticks: one throws where either player has few, and "
        "stops where both have many; the boundary is like a hyperbola"
    )
    page.figure("three", figure, alt)
    rows = []
    for m in range(1, 9):
        column = choice & (lid == 3) & (mine == m) & (label == STOP)
        least = theirs[column].min() if column.any() else None
        solid = column.sum() == (choice & (lid == 3) & (mine == m) & (theirs >= (least or 0))).sum()
        assert least is None or solid
        rows.append("never" if least is None else str(least))
    page.text("With three in the lid, stop when the other player has at least so many sticks:")
    page.table(["mine", *map(str, range(1, 9))], [["theirs from", *rows]])


def rules_of_thumb(page: Page, large: Solution) -> None:
    """How far simple rules are behind perfect play."""
    graph = large.graph
    lid, mine, theirs, _ = graph.states.T
    choice = has_choice(large)
    stop = best_labels(large) == STOP
    product = mine.astype(np.int64) * theirs
    published = (lid >= 5) | ((lid == 4) & ~((mine == 1) & (theirs == 1)))
    three = choice & (lid == 3)
    alone = np.minimum(mine, theirs) == 1
    wrong = {t: int(np.sum(three & ((~alone & (product >= t)) != stop))) for t in range(10, 41)}
    edge = min(wrong, key=lambda t: (wrong[t], -t))
    rules = {
        "at 3": lid >= 3,
        "at 4": lid >= 4,
        "at 4, but not at 4/1/1": published,
        f"the same, and at 3 from {edge} on": published | ((lid == 3) & ~alone & (product >= edge)),
    }
    counts = [n for n in (6, 8, 10, 12, 14, 16, 20, 30, 40, 60, 100, 130) if n <= large.game.sticks]
    lag, exploited, bound = {}, {}, 0.0
    for name, condition in rules.items():
        policy = where(graph, name, condition, STOP, THROW)
        lag[name], off = behind(large, policy, counts)
        bound = max(bound, off)
        response = rollwise.best_response(graph, policy)
        exploited[name] = response.exploitability(opening(large, counts[-1])) / 2
    page.text(f"""
        ## A rule to remember

        With three in the lid the boundary is almost a hyperbola: **stop if mine × theirs is {edge}
        or more, unless a player has a single stick.** That errs in {wrong[edge]} of the
        {int(three.sum()):,} positions up to {large.game.sticks} sticks, and no other product does
        better. Losses against perfect play in percentage points, on average of both seats
        (certified to ± {power(100 * bound)}); the last column is the loss against the best
        response:
    """)
    shown = [n for n in (12, 20, 40) if n <= large.game.sticks]
    rows = [
        [name, *[points(found[counts.index(n)]) for n in shown], points(exploited[name])]
        for name, found in lag.items()
    ]
    head = ["stop …", *[f"{n} sticks" for n in shown], f"{counts[-1]}, loss"]
    page.table(head, rows)
    lines = [
        Line(re.sub("^at", "stop at", name), counts, [max(100 * x, 1e-6) for x in found], colour)
        for (name, found), colour in zip(lag.items(), (RED, ORANGE, GREEN, BLUE), strict=True)
    ]
    figure = draw_lines(
        lines,
        title="Super Six: how far rules of thumb are behind perfect play",
        notes=[
            "A rule says with how many sticks in the lid one stops; the last one also with three, "
            f"if mine × theirs is {edge} or more.",
            "What is below 10<sup>-6</sup> percentage points is drawn there.",
        ],
        x_title="sticks in the game",
        y_title="behind perfect play (percentage points)",
        log=True,
    )
    alt = (
        "How far rules of thumb are behind perfect play, by sticks: stopping at three gets better "
        "with more sticks, stopping at four worse, and the rule with both stays near zero"
    )
    page.figure("rules", figure, alt)


def opening(solution: Solution, sticks: int) -> int:
    """The number of the state in which a game of so many sticks begins."""
    return solution.find((0, sticks // 2, sticks - sticks // 2, 1))


def behind(solution: Solution, policy: Policy, counts: list[int]) -> tuple[list[float], float]:
    """How far a policy is behind perfect play in games of so many sticks, and the bound."""
    found = rollwise.evaluate(solution.graph, policy, solution.policy)
    assert found.bounds is not None
    assert found.bounds_second is not None
    at: NDArray[np.int64] = np.array([opening(solution, n) for n in counts])
    first = solution.values[at] - found.values[at]
    second = -solution.values[at] - found.values_second[at]
    bounds = solution.error_bounds + (found.bounds + found.bounds_second) / 2
    return ((first + second) / 4).tolist(), float(bounds[at].max()) / 2


def rounds_to(number: float, printed: str) -> bool:
    """Whether a number, rounded, is what was printed."""
    return f"{number:.{len(printed.partition('.')[2])}f}" == printed


def listed(positions: list[list[int]]) -> str:
    """Positions in a sentence."""
    names = ["/".join(map(str, fields)) for fields in sorted(positions)]
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def main(arguments: list[str] | None = None) -> None:
    """Make the page."""
    run("super_six_value_iteration", study, arguments)


if __name__ == "__main__":
    main()
