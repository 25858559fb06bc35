"""Dice blackjack learned by self-play, held against the exact answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from study import (
    Page,
    best_labels,
    certified,
    has_choice,
    log_axes,
    percent,
    points,
    power,
    printed,
    run,
)

import rollwise
from rollwise import Solution, dice
from rollwise.analysis.learning import Assessment, Reference, assess
from rollwise.coach import Table, read_records, replay
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.learn import Learner, choice_probabilities
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.style import BLUE, GREEN, GREY, ORANGE, RED

TITLE = "What does self-play learn of dice blackjack?"
STEP = (
    "the learned policy is compared with the exact answer. The page shows its loss to an opponent "
    "with knowledge of its habits, and the cause of each mistake"
)
GAMES = Path(__file__).parent / "dice_blackjack.game"
EXPLORE = 100.0
SEEDS = (1, 2, 3, 4, 5)


def study(page: Page) -> None:
    solution = rollwise.solve(DiceBlackjack())
    reference = Reference.of(solution)
    page.text(f"# {TITLE}")
    page.text(f"**A step further than the source: {STEP}.**")
    page.text("""
        After *Programming Assignment 3* of a university course ([sources](../sources.md)). Its
        learner plays both sides, counts wins and losses after each choice, and prefers successful
        choices more and more.

        Two players throw in turns and keep their totals. The mover chooses the number of dice. A
        total from 15 to 17 wins at once, a total above 17 loses. (Six sides and at most two dice:
        the source's example, which has no solution.)

        The source's NGames and M are `--games` and `--explore` of `rollwise learn`. Its WinCount
        and LoseCount are `Learner.count_arrays()`: arrays of 15 × 15 × 3 integers, `[X, Y, J]`.
    """)
    worked_examples(page, solution)
    sample_games(page, solution)
    exact_answer(page, solution)
    learned = learning(page, solution, reference)
    what_is_wrong(page, solution, learned)
    limits(page, solution, reference)
    page.text("""
        ## Corrected in the source

        - 1 − p_B is about (K − 1)/K after few games, not "K − 1/K".
        - In its third example the throw marked "A total: 13" is player B's; its own counters have
          it so.
        - In its limit C, "NCards" is NDice, the largest number of dice.
    """)


def worked_examples(page: Page, solution: Solution) -> None:
    """The source's example of the rule of choice, and its counters."""
    source = printed("dice_blackjack")
    wins, losses = source["wins"], source["losses"]
    chances = choice_probabilities(wins, losses, explore=source["explore"])
    page.text(f"""
        ## The source's examples

        *Choosing.* Three dice may be thrown, M is {source["explore"]}. Games won and lost after
        each number of dice, and the probability of each as the next choice:
    """)
    rows = [
        [str(j + 1), str(w), str(n), f"{chance:.6f}", as_printed]
        for j, (w, n, chance, as_printed) in enumerate(
            zip(wins, losses, chances, source["probabilities"], strict=True)
        )
    ]
    page.table(["dice", "won", "lost", "probability", "printed"], rows)
    page.text("""
        *Counting.* The counters that its games raise (`Learner.record`):
    """)
    rows = []
    for game in source["games"]:
        learner = Learner(solution.graph, explore=EXPLORE, seed=SEEDS[0])
        learner.record(
            [(n, after if after in ("win", "lose") else tuple(after)) for n, after in game["moves"]]
        )
        found = raised(learner)
        same = "the same" if sorted(found) == sorted(game["counters"]) else "others"
        rows.append([game["name"], ", ".join(f"`{name}`" for name in found), same])
    page.table(["game", "raised by 1", "printed"], rows, words=3)
    low = solution.graph.states.max(axis=0)[0] + 1
    wins, losses, _ = learner.count_arrays()
    assert wins.shape == losses.shape == (low, low, 3)
    page.text(f"""
        *Exploring and exploiting.* One choice won in 60 % of games, the other in 40 %. With M =
        {EXPLORE:g}, the probability of the better one after so many games:
    """)
    seen = (0, 10, 100, 1_000, 10_000, 100_000)
    rows = [percent(better(n)) for n in seen]
    page.table(["games", *[f"{n:,}" for n in seen]], [["the better one", *rows]])


def sample_games(page: Page, solution: Solution) -> None:
    """The source's three games, reviewed."""
    table = Table(solution, DiceBlackjack())
    sessions = [replay(record, table) for record in read_records(GAMES)]
    throws = [entry for session in sessions for entry in session.accounts]
    (wrong,) = [entry for entry in throws if entry.is_mistake]
    here = solution.graph.view[wrong.state].named
    one, two = (solution.action_values[a] for a in solution.graph.view[wrong.state].action_range)
    page.text(f"""
        *Playing.* Of the {len(throws)} throws in the source's three
        [sample games](dice_blackjack.game), {len(throws) - 1} were right (`rollwise review
        dice-blackjack docs/case-studies/dice_blackjack.game`). The mistake is two dice at
        {here["mine"]} to {here["theirs"]}: {percent(1 / 2 + two / 2)} instead of
        {percent(1 / 2 + one / 2)} with one die.
    """)


def raised(learner: Learner) -> list[str]:
    """The counters that aren't 0, in the source's notation."""
    graph = learner.graph
    names = []
    for a in np.flatnonzero(learner.arrays()["sums"].any(axis=1)).tolist():
        mine, theirs = graph.states[graph.action_state[a]].tolist()
        n = int(graph.action_label[a])
        won, lost, _ = learner.counts((mine, theirs), n)
        for name, count in (("WinCount", won), ("LoseCount", lost)):
            names += [f"{name}[{mine},{theirs},{n}]"] * count
    return names


def better(games: int) -> float:
    """How likely the choice that won 6 of 10 is taken when the other won 4 of 10."""
    half = games // 2
    won = [half * 6 // 10, half * 4 // 10]
    return float(choice_probabilities(won, [half - w for w in won], explore=EXPLORE)[0])


def exact_answer(page: Page, solution: Solution) -> None:
    """The two arrays that the source asks for."""
    choice = has_choice(solution)
    either = np.add.reduceat(solution.is_best, solution.graph.action_indptr[:-1]) > 1
    two = int(np.sum(best_labels(solution)[choice] == 2))
    page.text(f"""
        ## The exact answer

        The first player wins with probability
        {certified(solution.win_probability, solution.error_bound / 2)}, certified. Two dice are
        right in {two} of the {choice.sum()} positions; in {either.sum()} both numbers are equally
        good. `rollwise table dice-blackjack --grid` prints the source's two arrays, the number of
        dice and its win probability. As a picture:
    """)
    figure = solution.plot("policy")
    alt = (
        "Dice blackjack: the best number of dice by the two totals, two with a low total of one's "
        "own and one with a high total"
    )
    page.figure("exact", figure, alt)
    mine, theirs = solution.graph.states.T
    label = np.where(either, 0, best_labels(solution))
    known = {total: set(label[mine == total].tolist()) - {0} for total in np.unique(mine).tolist()}
    (mixed,) = [total for total, used in known.items() if len(used) > 1]
    assert all(
        used == {2 if total < mixed else 1} for total, used in known.items() if total != mixed
    )
    last = int(theirs[(mine == mixed) & (label == 1)].max())
    page.text(f"""
        With less than {mixed} points throw two dice, with more throw one, and with {mixed} throw
        one if the opponent has at most {last}.
    """)


def learning(page: Page, solution: Solution, reference: Reference) -> Assessment:
    """Learning curves, by exploration and by kind of learner."""
    most = 3_000 if page.small else 1_000_000
    marks = sorted({round(most * 10 ** (-k / 2)) for k in range(8 if not page.small else 3)})
    seeds = SEEDS[:1] if page.small else SEEDS
    settings: list[tuple[str, str, float, str]] = [
        ("M = 1", "counts", 1.0, RED),
        ("M = 10", "counts", 10.0, ORANGE),
        ("M = 100", "counts", EXPLORE, BLUE),
        ("M = 1000", "counts", 1000.0, GREY),
        ("Q-learning, M = 100", "q-learning", EXPLORE, GREEN),
    ]
    curves = {}
    shown = None
    for name, method, explore, _ in settings:
        runs = []
        for seed in seeds:
            results = play(solution, reference, marks, method, explore, seed)
            runs.append([found.loss for found in results])
            if (name, seed) == ("M = 100", SEEDS[0]):
                shown = results[-1]
        curves[name] = np.median(np.array(runs), axis=0)
    assert shown is not None
    page.text(f"""
        ## How well is it learned?

        The *loss* of a learned player is the gain of a best response in percentage points, on
        average of both seats. It is computed exactly (± {power(100 * shown.loss_bound)} points).
        Medians of {len(seeds)} runs each, seeds {seeds[0]} to {seeds[-1]}:
    """)
    at = [n for n in marks if str(n).startswith("1") or page.small]
    rows = [[name, *[points(curves[name][marks.index(n)], 3) for n in at]] for name, *_ in settings]
    page.table(["loss after games", *[f"{n:,}" for n in at]], rows)
    what = "loss (percentage points)"
    figure = draw_lines(
        [
            Line(name, marks, (100 * curves[name]).tolist(), colour)
            for name, _, _, colour in settings
        ],
        title="Learning dice blackjack: loss after so many games",
        notes=[f"Medians of {len(seeds)} runs."],
        x_title="games played",
        y_title=what,
        log=True,
    )
    alt = f"Learning dice blackjack: {what} by games played, falling for every learner"
    page.figure("loss", log_axes(figure, "x", "y"), alt)
    page.text("""
        A small M settles early; with a large M the rates include many games of bad play.
    """)
    trap(page, most)
    return shown


def trap(page: Page, games: int) -> None:
    """A game in which counting stays wrong."""
    three = rollwise.solve(DiceBlackjack(dice=3))
    reference = Reference.of(three)
    rows = []
    for name, method in (("counting", "counts"), ("Q-learning", "q-learning")):
        found = [play(three, reference, [games], method, EXPLORE, s)[0] for s in SEEDS[:3]]
        rows.append([name, *[points(one.loss, 3) for one in found]])
    page.text(f"""
        More games do not always help. With up to three dice, after {games:,} games with M =
        {EXPLORE:g}, the loss of three runs each:
    """)
    page.table(["loss", *[f"seed {s}" for s in SEEDS[:3]]], rows)
    page.text("""
        Q-learning forgets early games; counting does not.
    """)


def play(
    solution: Solution,
    reference: Reference,
    marks: Sequence[int],
    method: str,
    explore: float,
    seed: int,
) -> list[Assessment]:
    """One run, compared with the exact answer at some numbers of games."""
    learner = Learner(solution.graph, explore=explore, seed=seed, method=method)
    found = []
    for mark in marks:
        learner.play(mark - learner.games)
        found.append(assess(learner.result(), reference))
    return found


def what_is_wrong(page: Page, solution: Solution, found: Assessment) -> None:
    """Where the learned answer differs, and why."""
    learned = found.learned
    page.text(f"""
        ## Where it is still wrong

        After {learned.games:,} games with M = {learned.explore:g} (seed {learned.seed}) the learned
        number of dice is right in {percent(found.optimal_share, 1)} of the reachable positions, and
        in {percent(found.weighted_optimal_share, 1)} weighted by frequency under good play.
    """)
    counts = {name: count for name, count in found.reason_counts().items() if count}
    page.text("""
        Wrong or missing answers by the first [reason](../learning.md#self-play) that explains them:
    """)
    page.table(["reason", *counts], [["positions", *map(str, counts.values())]])
    games = learned.games
    figure = solution.plot("learning", games=games)
    page.figure("learned", figure, f"Learned against exact after {games:,} games, and the loss")


def limits(page: Page, solution: Solution, reference: Reference) -> None:
    """The five limits that the source names, with numbers."""
    small = rollwise.solve(DiceBlackjack(sides=3, low=10, high=20, dice=2))
    assert small.win_probabilities is not None
    behind = float(small.win_probabilities[small.find((2, 9))])
    coin = rollwise.solve(DiceBlackjack(sides=2, low=10, high=20, dice=2))
    coin_reach = Reference.of(coin).reachable
    good = Reference.of(small)
    ones = small.graph.states[:, 0] == 1
    only_bad = ones & good.reachable & (good.visits <= 0)
    ways = {total: count for count, total in dice.total(10, 4)}
    unreachable = int(np.sum(~reference.reachable))
    graph = solution.graph
    second = np.sort(solution.regret[solution.regret > 0])
    closest = int(np.argmin(np.where(solution.regret > 0, solution.regret, np.inf)))
    state = graph.states[graph.action_state[closest]].tolist()
    assert not coin_reach[coin.find((5, 0))]
    page.text(f"""
        ## The limits of learning, with numbers

        The source's five reasons for errors of a learner:

        - **Hopeless.** Target 10 to 20, two dice of three sides, behind by 2 to 9: the win
          probability is {behind:.0f}, exactly.
        - **Unreachable.** With two dice of two sides the position ⟨5, 0⟩ is one of
          {int(np.sum(~coin_reach))} unreachable positions of {len(coin_reach)}; in the game above
          there are {unreachable} of {graph.n_states}.
        - **Only bad play.** Target 10 to 20, two dice of three sides: of the {int(ones.sum())}
          positions ⟨1, X⟩, {int(only_bad.sum())} are reachable, but none without a choice that
          costs a percentage point or more.
        - **Rare.** Ten dice of four sides show forty {ways[40]} time in {sum(ways.values()):,}.
        - **Close.** At ⟨{state[0]}, {state[1]}⟩ the worse number of dice costs
          {power(second[0] / 2, 1)} in win probability. {int(np.sum(second / 2 < 0.01))} of
          {len(second)} wrong choices cost less than a percentage point.
    """)


def main(arguments: list[str] | None = None) -> None:
    """Make the page."""
    run("dice_blackjack", study, arguments)


if __name__ == "__main__":
    main()
