"""Super Six by mathematical programming: why a linear program fails, and what works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from study import (
    Page,
    best_labels,
    certified,
    has_choice,
    percent,
    power,
    printed,
    run,
)

import rollwise
from rollwise import Chase, Solution
from rollwise.errors import UsageError
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.games.pig import Pig
from rollwise.games.super_six import STOP, THROW, SuperSix
from rollwise.games.threes import Threes
from rollwise.methods import run_method
from rollwise.methods.linear_programming import net_visits
from rollwise.methods.result import MethodResult, Status, fraction_text
from rollwise.plot import Choices
from rollwise.plot.kinds.error import ERROR, RESIDUAL, draw_result

TITLE = "Why does a linear program fail in Super Six?"
STEP = (
    "why the linear program fails, and works with one peg more, how the integer program scales, "
    "and the answer as fractions"
)


def study(page: Page) -> None:
    source = printed("super_six_programming")
    sticks = 14 if page.small else 40
    solution = rollwise.solve(SuperSix(sticks=sticks))
    choice = has_choice(solution)
    page.text(f"# {TITLE}")
    page.text(f"**A step further than the source: {STEP}.**")
    page.text(f"""
        After E. Schacham's post [*Solving Super
        Six*](https://ashdnazg.github.io/articles/24/Solving-Super-Six) (2024), which failed with
        linear programming and succeeded with integer variables. ([All sources](../sources.md))

        A position is (b, c, o): pegs on the board, the mover's, the opponent's; rollwise calls
        them lid, mine and theirs. [The other study](super_six_value_iteration.md) has the rules.
        With {sticks} pegs there are {int(choice.sum()):,} positions in which the mover may choose
        {"(the source: " + f"{source['positions']:,})" if not page.small else ""} and as many in
        which he must roll.
    """)
    one_roll(page, solution)
    failing(page)
    measures(page, solution)
    published(page, solution, source)
    why(page)
    rim(page)
    one_player(page)
    integers(page)
    answer(page, solution)
    further(page, source)
    fractions(page)
    page.text("""
        ## Corrected in the source

        - The text swaps the two meanings of its binary r: with the printed constraints, r = 1
          forces P_choice = P_roll and r = 0 forces P_choice = P_end. The first display and the
          program are right.
        - P_choice in the last figure is the win probability where the mover may choose.
    """)


def one_roll(page: Page, solution: Solution) -> None:
    """The source's table of outcomes, from the graph."""
    b, c, o = 2, 3, 4
    graph = solution.graph
    s = solution.find((b, c, o, 0))
    throw = int(graph.action_indptr[s])
    rows = []
    for k in range(int(graph.outcome_indptr[throw]), int(graph.outcome_indptr[throw + 1])):
        lid, mine, theirs, forced = graph.states[graph.outcome_state[k]].tolist()
        if graph.outcome_passes[k]:
            what, after = "occupied", (lid, theirs, mine)  # seen by the next player
            chance = "P_end"
        else:
            what = "empty" if lid > b else "a six"
            after, chance = (lid, mine, theirs), "P_choice"
        assert forced == (chance == "P_end")
        rows.append([what, f"{int(graph.outcome_weight[k])}/6", str(after), chance])
    page.text(f"""
        ## The equations

        Outcomes of a roll at ({b}, {c}, {o}), read from rollwise's graph; the source's table at b =
        {b}:
    """)
    page.table(["rolled", "probability", "position then", "worth"], rows, words=4)
    page.text("""
        P_end is one minus the opponent's P_roll with c and o swapped, P_choice is the larger of
        P_roll and P_end, and P_roll is the mean over the table.

        `rollwise table super-six sticks=40 --each-action` prints P_roll and P_end (P_throw,
        P_stop).
    """)


def failing(page: Page) -> None:
    """The linear program, and where it is wrong."""
    counts = range(10, 15) if page.small else [*range(4, 16), 20, 30, 40]
    shown = (14,) if page.small else (14, 15, 20, 30, 40)
    rows, wrong_from = [], None
    for n in counts:
        game = rollwise.solve(SuperSix(sticks=n))
        found = run_method(game.graph, "linear-programming")
        excess = found.columns["relative_residual"]
        wrong = np.flatnonzero(excess > 1e-9)
        off = game.graph.states[np.abs(found.values - game.values) > 1e-9]
        assert np.all(game.graph.states[wrong, 0] == 4)
        assert np.all(off[:, :3].sum(axis=1) == n)
        if len(wrong) and wrong_from is None:
            wrong_from = n
        if n not in shown:
            continue
        worst = tuple(game.graph.states[int(np.argmax(excess))][:3].tolist())
        error = float(np.max(np.abs(found.values - game.values))) / 2
        rows.append(
            [
                str(n),
                str(len(wrong)),
                percent(float(excess.max()), 3),
                str(worst),
                f"{len(off):,}",
                power(error, 1),
            ]
        )
    assert wrong_from is not None
    page.text("""
        ## The linear program

        Every P_choice is at least P_roll and at least P_end, and their sum is minimized. The source
        found errors of more than a percent with four pegs on the board. The number of positions
        where P_choice exceeds both, the largest excess and its position, and the number of wrong
        probabilities:
    """)
    head = ["pegs", "too large", "most", "at", "wrong chances", "largest error"]
    page.table(head, rows)
    page.text(f"""
        Up to {wrong_from - 1} pegs the program is right. **From {wrong_from} pegs on it is wrong,**
        always with four pegs on the board and on the rim, where no peg has gone into the pit:
        positions on the rim of a smaller game are right in a larger one.
    """)


def measures(page: Page, solution: Solution) -> None:
    """Two measures of one program's values, under two names."""
    found = run_method(solution.graph, "linear-programming")
    choice = has_choice(solution)
    rows = []
    for measure in (RESIDUAL, ERROR):
        amount = measure.of(solution, found.values)[choice]
        off = amount > 1e-6
        boards = np.unique(solution.graph.states[choice, 0][off]).tolist()
        rows.append(
            [
                measure.name,
                f"{int(off.sum()):,}",
                percent(float(amount.max())),
                ", ".join(map(str, boards)),
            ]
        )
    page.text(f"""
        The *relative residual* compares P_choice with the larger of P_roll and P_end of the program
        itself (the source calls it relative error), the *relative error* with the certified
        probability (± {power(solution.error_bound / 2)}). With {solution.game.sticks} pegs, where
        the mover may choose:
    """)
    head = ["measure", "positions above 10⁻⁶", "largest", "pegs on the board"]
    page.table(head, rows)
    for kind, measure in {"residual": RESIDUAL, "error": ERROR}.items():
        figure = draw_result(solution, found, measure, Choices(), "linear-programming")
        page.figure(kind, figure, f"Relative {kind} of the linear program")


def published(page: Page, solution: Solution, source: dict[str, Any]) -> None:
    """The figure of the source: a program for each number of pegs, one after the other."""
    graph = solution.graph
    pegs = graph.states[:, :3].sum(axis=1)
    pieces = [np.flatnonzero(pegs == n) for n in range(2, solution.game.sticks + 1)]
    found = run_method(graph, "linear-programming", pieces=pieces)
    residual = found.columns["relative_residual"]
    off = has_choice(solution) & (residual > 1e-6)
    assert np.all(graph.states[off, 0] == 4)
    apart = []
    for *place, cell in source["relative_errors"]:
        if sum(place) > solution.game.sticks:
            continue
        here = float(residual[solution.find((*place, 0))])
        here /= 1 + here
        apart.append(abs(here - float(cell)))
    page.text(f"""
        **The source's own figure shows more:** residuals inside the game, in
        {source["cells_above"]} cells, up to {percent(source["largest"])}. Its numbers are those of
        one program for each number of pegs, each with the results of the programs before. Then
        every number of pegs is a rim, and errors add up. Computed like that, {int(off.sum()):,}
        positions are too large. {len(apart)} cells in the data of the figure (relative to
        P_choice) differ from ours by at most {power(max(apart))}.
    """)
    figure = draw_result(solution, found, RESIDUAL, Choices(), "programs by number of pegs")
    page.figure("published", figure, "The source's figure: residuals deep inside the game")


def why(page: Page) -> None:
    """Why the program is right for one player and where it is for two."""
    page.text("""
        *Why.* Start one play in each position with a choice. The *net visits* of a position are the
        visits by the player who began, less those by the opponent. **The program is right if no
        position with a choice has negative net visits, and wrong if one has**
        ([proof](../theory.md#why-linear-programming-needs-one-player)). On the rim some positions
        with four pegs on the board are visited more often by the opponent.
    """)


def rim(page: Page) -> None:
    """Two ways in which the program is right: one peg more, and one program a component."""
    rows = []
    for n in (14, 16) if page.small else (14, 20, 40):
        game = SuperSix(sticks=n)
        truth = rollwise.solve(game)
        row = [str(n), f"{truth.graph.n_states:,}"]
        for options in ({}, {"rim": 1}, {"whole": False}):
            found = rollwise.solve(game, method="linear-programming", options=options)
            assert (found.status == "certified") == bool(options)
            row.append(power(float(np.max(np.abs(found.values - truth.values))) / 2, 1))
        rows.append(row)
    page.text("""
        ## One peg more

        **The linear program works with one peg more:** `rollwise solve super-six sticks=40 --method
        linear-programming --set rim=1` solves 41 pegs and reads 40. Without a rim, `--set whole=no`
        solves a program for each component. The largest error of any probability:
    """)
    head = ["pegs", "positions", "one program", "--set rim=1", "--set whole=no"]
    page.table(head, rows)
    for n in (10, 15) if page.small else (20, 101, 41):
        game = rollwise.solve(SuperSix(sticks=n))
        choice = has_choice(game)
        layer = n - game.graph.states[:, :3].sum(axis=1)
        visits = net_visits(game.graph, game.best_actions)
        alone = net_visits(game.graph, game.best_actions, whole=False)
        assert np.all(layer[choice & (visits < 0)] == 0)
        assert np.all(alone[choice] > 0)
        least = [float(visits[choice & (layer == k)].min()) for k in (0, 1)]
    page.text(f"""
        The least net visits of any position with a choice are −{-least[0]:.6f} on the rim of {n}
        pegs, and {least[1]:.6f} one peg further in. Only the rim has negative ones, in games of 20,
        41 and 101 pegs; within components none are. A proof for all sizes is open. Other games
        differ:
    """)
    page.table(["game", "negative", "one program", "--set rim=1", "--set whole=no"], others(page))


def others(page: Page) -> list[list[str]]:
    """The same on games of other shapes: how many net visits are negative, and what is right."""
    rows = []
    for game in (
        HareAndTortoise(steps=12 if page.small else 30),
        DiceBlackjack(),
        Pig(target=10),
        Pig(target=25),
    ):
        truth = rollwise.solve(game)
        negative = net_visits(truth.graph, truth.best_actions)[has_choice(truth)] < 0
        row = [truth.graph.title, str(int(negative.sum()))]
        for options in ({}, {"rim": 1}, {"whole": False}):
            try:
                found = rollwise.solve(game, method="linear-programming", options=options)
            except UsageError:
                row.append("no rim")
                continue
            row.append("right" if found.status == "certified" else "wrong")
        rows.append(row)
    return rows


def one_player(page: Page) -> None:
    """Where the same program is right."""
    dice, error = 3 if page.small else 5, 0.0
    for game in (Threes(dice=dice), Chase(Threes(dice=dice), dice)):
        solution = rollwise.solve(game)
        found = run_method(solution.graph, "linear-programming")
        error = max(error, float(np.max(np.abs(found.values - solution.values))))
        assert found.status is Status.CONVERGED
    page.text(f"""
        **For one player the same program is right:** in Threes with {dice} dice, for the least
        score and for the chance of at most {dice} points, all values are within {power(error)} of
        the certified ones.
    """)


def integers(page: Page) -> None:
    """The mixed-integer program."""
    sticks = 8 if page.small else 20
    small, error = rollwise.solve(SuperSix(sticks=sticks)), 0.0
    for objective in ("none", "smallest", "largest"):
        found = run_method(small.graph, "mixed-integer", objective=objective, tighten=0)
        assert not found.details["binaries_fixed_beforehand"]
        assert told(small, found)[2] == "yes"
        error = max(error, float(np.max(np.abs(found.values - small.values))))
    page.text(f"""
        ## The integer program

        A binary r for each position decides: P_choice ≤ P_roll + M (1 − r) and P_choice ≤ P_end + M
        r, with M = 1 in the source. With no objective, the smallest and the largest sum the
        binaries of {sticks} pegs choose best, and the values are off by at most {power(error)}
        (`--set tighten=0`: M = 1, all binaries free).
    """)
    details = run_method(small.graph, "mixed-integer").details
    seconds = measured()
    page.text(f"""
        Two preparations make it scale. Each *component* is a program of its own, the last ones
        first. Some sweeps of interval iteration make M small and decide binaries beforehand, with
        {sticks} pegs {details["binaries_fixed_beforehand"]:,} of {details["binaries"]:,}.

        The source probably had an integer program for each number of pegs, as its figure of errors
        has. [Solved so](../../benchmarks/milp.md) with M = 1 and a tolerance of 1e-9, SCIP took
        {seconds["40"]} s for 40 pegs and {seconds["60"]} s for 60; the run for 130 was stopped
        after {seconds["130"]} s. With SCIP's own tolerance of 1e-6 the programs for 2 to 130 pegs
        took 148 s of processor time; P_choice then errs by up to 1e-6. [Export](../export.md)
        writes both models as files.
    """)


def measured() -> dict[str, str]:
    """The seconds that the benchmark measured with a program for each number of pegs, by pegs."""
    text = (Path(__file__).parents[2] / "benchmarks" / "milp.md").read_text(encoding="utf-8")
    section = text.partition("## By number of sticks")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:] for line in section.splitlines() if line.startswith("| scip")]
    return {row[1].strip(): row[3].strip() for row in rows}


def told(solution: Solution, found: MethodResult) -> list[str]:
    """How a run ended, its error, and whether its binaries are right."""
    error = float(np.max(np.abs(found.values - solution.values)))
    assert found.chosen is not None
    choice = has_choice(solution)
    right = bool(np.all(solution.is_best[found.chosen[choice]]))
    return [str(found.status), power(error), "yes" if right else "NO"]


def answer(page: Page, solution: Solution) -> None:
    """The source's two figures."""
    graph = solution.graph
    lid = graph.states[:, 0]
    choice = has_choice(solution)
    label = best_labels(solution)
    swapped = np.array(
        [solution.find((b, o, c, f)) for b, c, o, f in graph.states[choice].tolist()]
    )
    symmetric = bool(np.all(label[choice] == label[swapped]))
    four = choice & (lid == 4) & (label == THROW)
    assert graph.states[four][:, :3].tolist() == [[4, 1, 1]]
    assert np.all(label[choice & (lid == 5)] == STOP)
    page.text(f"""
        ## The answer

        Where to roll, with {solution.game.sticks} pegs. With four pegs on the board one rolls only
        at (4, 1, 1), as the source points out; with five never:
    """)
    figure = solution.plot("policy", x="mine", y="theirs")
    page.figure("policy", figure, "Super Six: where to roll and where to end the turn")
    page.text(f"""
        The map is symmetric in c and o, in {"all" if symmetric else "NOT all"} of the
        {int(choice.sum()):,} positions, because P_roll(b, c, o) > 1 − P_roll(b, o, c) is a
        symmetric condition. P_choice in percent:
    """)
    figure = solution.plot("value", x="mine", y="theirs", where="forced == 0")
    page.figure("value", figure, "Super Six: the chance to win in each position")
    early = solution.find((0, solution.game.sticks // 2, solution.game.sticks // 2, 1))
    assert solution.win_probabilities is not None
    page.text(f"""
        The first player wins with probability
        {certified(float(solution.win_probabilities[early]), solution.error_bound / 2)}, certified.
    """)


def fractions(page: Page) -> None:
    """The answer without rounding."""
    rows = []
    for n in (4, 6, 10) if page.small else (4, 6, 10, 24):
        solution = rollwise.solve(SuperSix(sticks=n))
        exact = run_method(solution.graph, "exact")
        assert exact.fractions is not None
        start = fraction_text((1 + exact.fractions[0]) / 2)
        shown = f"`{start}`" if len(start) < 50 else "…"
        longest = exact.details["longest_denominator_digits"]
        off = float(np.max(np.abs(exact.values - solution.values)))
        assert off <= solution.error_bound
        rows.append(
            [
                str(n),
                shown,
                f"{float((1 + exact.fractions[0]) / 2):.12f}",
                f"{longest:,}",
                power(off) if off else "0",
            ]
        )
    page.text("""
        ## As fractions

        All weights are whole numbers of sixths, so the probabilities are fractions (`rollwise solve
        super-six --method exact`). The first player's probability, the digits of the longest
        denominator, and the error of doubles (always within their certified bound):
    """)
    page.table(["pegs", "first player", "", "digits", "doubles off by"], rows)


def further(page: Page, source: dict[str, int]) -> None:
    """Beyond the source's largest game."""
    found = {}
    for n in (16,) if page.small else (source["solved_to"], 400):
        solution = rollwise.solve(SuperSix(sticks=n))
        assert solution.win_probability is not None
        chance = certified(solution.win_probability, solution.error_bound / 2)
        found[n] = f"{chance} with {n} pegs"
    page.text(f"""
        Before the source, answers were known up to {source["solved_before"]} pegs (Jehn 2021); it
        reached {source["solved_to"]}. The first player's probability is {", ".join(found.values())}
        ([more](super_six_family.md)).
    """)


def main(arguments: list[str] | None = None) -> None:
    """Make the page."""
    run("super_six_programming", study, arguments)


if __name__ == "__main__":
    main()
