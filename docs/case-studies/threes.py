"""Threes: rolling first, rolling second, and the questions that its source leaves open."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from study import Page, certified, minus, percent, points, power, printed, run

import rollwise
from rollwise import Chase, Contest, Policy, Solution, solve_contest
from rollwise.analysis.betting import advise_double
from rollwise.analysis.distributions import Distribution
from rollwise.analysis.frontier import frontier
from rollwise.analysis.observed_scores import goodness_of_fit, judge, read_plays, simulated_scores
from rollwise.analysis.second_aims import ranges, score_ranges
from rollwise.answer.evaluation import best_response
from rollwise.answer.optimal_set import OptimalSet
from rollwise.answer.references import Policies
from rollwise.games.threes import Threes
from rollwise.methods import run_method
from rollwise.methods.result import fraction_text
from rollwise.numbers.printed import estimated
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.style import BLUE, GREEN, ORANGE, RED

TITLE = "How do I play Threes for a score, and how to win?"
STEP = (
    "every number is exact instead of simulated, and the three questions that the source asks its "
    "readers are answered: thousands of dice, betting, and more than two players"
)
FACES = ("threes", "ones", "twos", "fours", "fives", "sixes")
STAND_IN = "0.9*optimal+0.1*random"
TREE = 920  # pixels: its labels are long
SAMPLES, SEED = 300_000, 1  # of the source
DRAWS, RUNS = 1_000, 2_000  # of the tries of its method
EXAMPLE = Path(__file__).parents[2] / "examples" / "threes_game.csv"


def study(page: Page) -> None:
    dice = 3 if page.small else 5
    solution = rollwise.solve(Threes(dice=dice))
    chase = rollwise.solve(Chase(Threes(dice=dice)))
    page.text(f"# {TITLE}")
    page.text(f"**A step further than the source: {STEP}.**")
    page.text(f"""
        After A. August's post [*Solving Threes*](https://turtles-at-the-bottom.com/bellman.html).
        ([All sources](../sources.md))

        Roll {dice} dice, take at least one, roll the rest, and so on until none is left. The score
        is the sum of the dice taken, with threes counting 0; the lowest score wins. One may also
        take none, but then must take at least two of the next roll; the last die cannot be refused.
    """)
    first(page, solution)
    scores(page, solution)
    second(page, solution, chase)
    simulated(page, solution, chase)
    against_the_first(page, solution)
    if not page.small:
        example(page, solution)
    many(page)
    betting(page, solution)
    players(page, dice)
    page.text("""
        ## Corrected in the source

        - About one decimal of v and three of the probabilities are reliable. One row, two dice that
          must both be taken, is added up from figures cut to three digits.
        - *Winning* when rolling second means winning or tying (a gap of 0 or more).
        - The last formula for the optimal policy lacks a sum: the gap falls by the points of all
          dice taken.
        - The least expected score does not maximize the win probability against a player who knows
          the score: see *Rolling first or second*.
    """)


def hand(dice_shown: list[int], **more: int) -> dict[str, int]:
    """The position in which these dice lie on the table."""
    counts = [dice_shown.count(face) for face in (3, 1, 2, 4, 5, 6)]
    return {"to_roll": 0, "take_two": 0, **dict(zip(FACES, counts, strict=True)), **more}


def to_roll(dice: int, take_two: int, **more: int) -> dict[str, int]:
    """The position before a roll."""
    return {"to_roll": dice, "take_two": take_two, **dict.fromkeys(FACES, 0), **more}


def first(page: Page, solution: Solution) -> None:
    """The expected scores, and two decisions as trees."""
    exact = run_method(solution.graph, "exact")
    assert exact.fractions is not None
    rows, close = [], 0
    for dice, take_two, value in printed("threes")["values"]:
        if dice > solution.game.dice:
            continue
        s = solution.find(to_roll(dice, take_two))
        found = float(solution.values[s])
        close += abs(found - float(value)) <= 0.1
        fraction = fraction_text(exact.fractions[s])
        must = "yes" if take_two else "no"
        rows.append([str(dice), must, value, f"{found:.6f}", f"`{fraction}`"])
    page.text("""
        ## Rolling first

        The first player minimizes the expected score. The source's table of v, the expected points
        by the dice to roll, simulated there and exact here:
    """)
    page.table(["dice", "two to take", "source", "expected score", "exactly"], rows, words=2)
    page.text(f"""
        {close} of {len(rows)} simulated values are within a tenth. Ours are certified to ±
        {power(solution.error_bound)}.

        With 1 and 6 on the table one takes the 1: points now, expected points later, and their sum.
    """)
    figure = solution.plot("graph", state=hand([1, 6]))
    alt = (
        "Threes, a tree: 1 and 6 on the table, three choices, and what can follow each; to take "
        "the 1 is best"
    )
    page.figure("tree", figure, alt, TREE)
    page.text("With three dice, 1, 5 and 6, it is the same:")
    figure = solution.plot("graph", state=hand([1, 5, 6]))
    alt = (
        "Threes, a tree: 1, 5 and 6 on the table, four choices, and what can follow each; to take "
        "the 1 is best"
    )
    page.figure("tree-three", figure, alt, TREE)


def scores(page: Page, solution: Solution) -> None:
    """Distributions of final scores."""
    source = printed("threes")
    graph = solution.graph
    take_one = Policies.of(solution).find("take-one")
    best = rollwise.distributions(graph, solution.policy).of(0)
    every, policies = score_ranges(solution), OptimalSet.of(solution)
    spread = [math.sqrt(end) for end in (every.variance.least, every.variance.most)]
    five = min(5, max(every.at_most))
    medians = [
        str(min(score for score, row in every.at_most.items() if getattr(row, end) >= 0.5))
        for end in ("most", "least")
    ]
    rows = [
        [
            "optimal",
            f"{best.mean:.6f}",
            " to ".join(f"{sd:.3f}" for sd in spread),
            span(every.rows[0].least, every.rows[0].most),
            span(every.at_most[five].least, every.at_most[five].most),
            " or ".join(dict.fromkeys(medians)),
        ]
    ]
    for policy in (take_one, Policy.uniform(graph)):
        found = rollwise.distributions(graph, policy).of(0)
        rows.append(
            [
                policy.name,
                f"{found.mean:.6f}",
                f"{found.sd:.4f}",
                percent(found.at_most(0)),
                percent(found.at_most(5)),
                str(found.quantile(0.5)),
            ]
        )
    page.text(f"""
        ## Final scores

        The source plays {source["games"]:,} games of the optimal policy and of one that always
        takes the lowest die. Their exact distributions, with as many simulated games:
    """)
    if not page.small:
        page.figure("scores", solution.plot("scores"), "Threes: final scores, exact and simulated")
    page.table(["policy", "mean", "standard deviation", "0 points", "5 or less", "median"], rows)
    page.text(f"""
        In {policies.n_ties} of the {policies.graph.n_states} positions of optimal play several
        actions are equally good. All these policies have the same mean, within
        {power(policies.loss)} as proved; other figures are ranges. (`rollwise distribution threes
        --range`)
    """)
    if page.small:
        return
    error = best.sd / math.sqrt(source["human_games"])
    off = (float(source["human_mean"]) - best.mean) / error
    page.text(f"""
        The source's author scored {source["human_mean"]} on average in {source["human_games"]}
        games: {off:.1f} standard errors ({error:.2f}) from {best.mean:.2f}. His games cannot tell
        him from perfect.
    """)
    people(page, solution, best)


def people(page: Page, solution: Solution, best: Distribution) -> None:
    """The histogram of a person's scores over the exact distribution."""
    games = printed("threes")["human_games"]
    player = Policies.of(solution).find(STAND_IN)
    own = rollwise.distributions(solution.graph, player).of(0)
    made = simulated_scores(solution.graph, player, own, games=games, seed=1)
    fit = goodness_of_fit(made.values, best, made.times)
    page.text(f"""
        The author's scores are not in the source. A stand-in, optimal in nine of ten decisions,
        expects {own.mean:.4f} points. In {games} games (simulated, seed 1) he scored {fit.mean:.2f}
        ± {fit.standard_error:.2f} (standard error), {abs(fit.z):.1f} standard errors from the
        optimal mean (`rollwise scores threes FILE` tests and draws scores of your own):
    """)
    figure = solution.plot("scores", made=tuple(np.repeat(made.values, made.times).tolist()))
    alt = f"Threes: {games} final scores of a stand-in player over the exact optimal distribution"
    page.figure("people", figure, alt)


def span(least: float, most: float, digits: int = 2) -> str:
    """A range in percent."""
    return f"{100 * least:.{digits}f} to {percent(most, digits)}"


def second(page: Page, solution: Solution, chase: Solution) -> None:
    """Chances to win or tie, by the gap."""
    assert chase.win_probabilities is not None
    chances = chase.win_probabilities
    tree = chase.advise(hand([1, 6], gap=2))
    none, one = (printed("threes")["second"][i] for i in (0, 1))
    told = {row.action: row.win_probability for row in tree.actions}
    page.text(f"""
        ## Rolling second

        The second player knows the score to beat and maximizes the chance to win or tie. The *gap*
        is the number of points that may still be taken. The source's example has 1 and 6 on the
        table and a gap of 2. To take none wins {told["take none"]:.4f} (the source: {none}), to
        take the 1 wins {told["take 1"]:.4f} ({one}), and to take both cannot win:
    """)
    figure = chase.plot("graph", state=hand([1, 6], gap=2))
    alt = "Threes, rolling second: 1 and 6 on the table, gap 2"
    page.figure("tree-second", figure, alt, TREE)
    rows = []
    for row in printed("threes")["chances"]:
        if row["dice"] > solution.game.dice:
            continue
        exact = []
        for gap in range(len(row["chance"])):
            s = find_or_none(chase, to_roll(row["dice"], row["take_two"], gap=gap))
            exact.append(math.nan if s is None else float(chances[s]))
        off = np.array(exact) - np.array([float(x) for x in row["chance"]])
        seen = ~np.isnan(off)
        rows.append(
            [
                str(row["dice"]),
                "yes" if row["take_two"] else "no",
                str(int(seen.sum())),
                f"{np.nanmax(np.abs(off)):.4f}",
            ]
        )
    page.text("""
        The source prints a row of probabilities by gap for each number of dice. Their numbers, and
        the largest error of each row:
    """)
    head = ["dice", "two to take", "chances", "off by up to"]
    page.table(head, rows, words=2)
    dice = solution.game.dice
    page.text(f"The chances themselves, certified to ± {power(chase.error_bound / 2)}:")
    lines = []
    for n, colour in zip(range(1, dice + 1), (RED, ORANGE, GREEN, BLUE, "#000000"), strict=False):
        known = [
            (gap, find_or_none(chase, to_roll(n, 0, gap=gap))) for gap in range(6 * min(n, 3) + 1)
        ]
        xs = [gap for gap, s in known if s is not None]
        ys = [100 * float(chances[s]) for _, s in known if s is not None]
        lines.append(Line(f"{n} dice" if n > 1 else "1 die", xs, ys, colour))
    figure = draw_lines(
        lines,
        title="Threes, rolling second: the chance to win or tie",
        notes=["So many dice are left to roll, and one may be taken."],
        x_title="gap (points that may still be taken)",
        y_title="chance to win or tie (%)",
        baseline=True,
    )
    alt = (
        "Threes, rolling second: chance to win or tie by the gap, rising with the gap for any "
        "number of dice, and lower the more dice are left"
    )
    page.figure("chase", figure, alt)


def simulated(page: Page, solution: Solution, chase: Solution) -> None:
    """The source's own method, with the errors that it doesn't show."""
    samples = SAMPLES if not page.small else 2_000
    found = rollwise.solve(
        solution.game, method="sampled", options={"samples": samples, "seed": SEED}
    )
    columns = found.run.columns
    off = []
    for dice, take_two, _ in printed("threes")["values"]:
        if dice <= solution.game.dice:
            s = solution.find(to_roll(dice, take_two))
            off.append(abs(columns["true_error"][s] / columns["standard_error"][s]))
    start = solution.find(to_roll(solution.game.dice, 0))
    shown = estimated(found.values[start], columns["standard_error"][start])
    page.text(f"""
        ## The source's method

        The source uses *simulated backward induction*: from the last die back to the first roll,
        each position is rolled {samples:,} times, the best choice follows from earlier estimates,
        and the results are averaged. The same here (`rollwise table threes --method sampled --set
        samples={samples} --set seed={SEED}`) estimates the first roll at {shown.number} ±
        {shown.bound}; the standard error includes those inherited from other estimates. The true
        errors of the {len(off)} values of the first table are up to {max(off):.1f} standard errors.
    """)
    winners_curse(page, solution)
    drawn_chances(page, solution, chase, samples)


def winners_curse(page: Page, solution: Solution) -> None:
    """The bias of the least of several estimates."""
    runs = RUNS if not page.small else 20
    off = np.empty(runs)
    for seed in range(runs):
        one = run_method(solution.graph, "sampled", samples=DRAWS, seed=seed)
        off[seed] = one.values[0] - solution.value
    mean, spread = off.mean(), off.std(ddof=1)
    shown = estimated(mean, spread / math.sqrt(runs), sign=True)
    page.text(f"""
        No standard error includes the *winner's curse*: the least of several estimates is too low
        on average. In {runs:,} runs with {DRAWS:,} draws each (seeds from 0) the mean error of the
        first roll is {minus(shown.number)} ± {shown.bound}, and the spread of the errors
        {spread:.5f}.
    """)


def drawn_chances(page: Page, solution: Solution, chase: Solution, samples: int) -> None:
    """Which of the source's chances are off by more than its draws explain."""
    found = run_method(chase.graph, "sampled", samples=samples, seed=SEED)
    errors = found.columns["standard_error"] / 2
    truth = (1 + chase.values) / 2
    listed, beyond = 0, 0
    for row in printed("threes")["chances"]:
        if row["dice"] > solution.game.dice:
            continue
        for gap, text in enumerate(row["chance"]):
            s = find_or_none(chase, to_roll(row["dice"], row["take_two"], gap=gap))
            if s is None:
                continue
            cut = 0.5 * 10.0 ** -len(text.partition(".")[2])
            listed += 1
            beyond += abs(float(text) - truth[s]) > 3 * errors[s] + cut
    page.text(f"""
        Rolling second, with as many draws, no probability has a standard error above
        {errors.max():.5f}. Of the source's {listed} probabilities {listed - beyond} are within
        three standard errors and rounding of the truth.
    """)


def find_or_none(solution: Solution, state: dict[str, int]) -> int | None:
    """The number of a state, or None where no play comes to it."""
    try:
        return solution.find(state)
    except rollwise.RollwiseError:
        return None


def against_the_first(page: Page, solution: Solution) -> None:
    """The values of policies of the first player, against a second player who knows the score."""
    game = solution.game
    contests = {ties: Contest(game, 2, ties) for ties in ("win-or-tie", "shared")}
    policies: list[tuple[str, Policy | None]] = [
        ("plays to win", None),
        ("least expected score", solution.policy),
        ("always takes one", Policies.of(solution).find("take-one")),
        ("at random", Policy.uniform(solution.graph)),
    ]
    rows, bound = [], 0.0
    gained = {}
    for name, policy in policies:
        row = [name]
        for ties, contest in contests.items():
            if policy is solution.policy:
                first_wins = ranges(solution, [f"win:{ties}"])[0]
                bound = max(bound, first_wins.error_bound)
                gained[name, ties] = first_wins
                row.append(span(1 - first_wins.most, 1 - first_wins.least, 3))
                continue
            found = solve_contest(contest, None if policy is None else {0: policy})
            bound = max(bound, found.error_bound)
            row.append(percent(float(found.probabilities[1]), 3))
            gained[name, ties] = float(found.probabilities[0])
        rows.append(row)
    best = gained["plays to win", "win-or-tie"]
    plain = gained["least expected score", "win-or-tie"]
    page.text(f"""
        ## Rolling first or second

        The source lets a person roll first against a program, and finds an edge of the program. The
        second player's exact probability (± {power(bound)}) if a tie is a win for him (the source's
        aim), and if a tie is half a win:
    """)
    head = ["the first player …", "second wins or ties", "ties shared"]
    page.table(head, rows)
    page.text(f"""
        Playing to win gains {points(best - plain.most, 2)} to {points(best - plain.least, 2)}
        percentage points for the first player, depending on his choice among equally good actions.
        `rollwise play threes as=contest ties=win-or-tie --games 20` is the source's experiment.
    """)
    mean_against_chance(page, solution)


def mean_against_chance(page: Page, solution: Solution) -> None:
    """The frontier of the mean score against the chance to win."""
    found = frontier(solution, "win:win-or-tie", tolerance=0.0)
    corners = found.corners
    first, last = corners[0], corners[-1]
    if len(corners) == 1:
        page.text("""
            ## The mean against the chance to win

            With so few dice a policy has both: the least mean and the best chance to win.
        """)
        return
    page.text(f"""
        ## The mean against the chance to win

        The frontier of the first player's policies has {len(corners)} corners; no policy lies more
        than {power(found.gap)} beyond the lines between them (proved). The best chance costs
        {last.mean - first.mean:.4f} points of the mean, and gains {
        points(last.value - first.value, 3)
    } percentage points. (`rollwise frontier threes --aim win:win-or-tie`)
    """)
    line = Line(
        "best chance to win for the mean",
        [1000 * (corner.mean - first.mean) for corner in corners],
        [100 * corner.value for corner in corners],
        BLUE,
    )
    figure = draw_lines(
        [line],
        title="Mean score against chance to win",
        notes=[],
        x_title="mean score above the least (thousandths of a point)",
        y_title="the first player wins (%)",
    )
    alt = (
        "Threes: the best chance of the first player to win, for every mean score: rising fast at "
        "first, then hardly"
    )
    page.figure("frontier", figure, alt)


def example(page: Page, solution: Solution) -> None:
    """The source's example game, judged."""
    graph, game = solution.graph, solution.game
    plays = read_plays(game, graph, EXAMPLE)
    rows = []
    lines = EXAMPLE.read_text().splitlines()
    for found in judge(solution, plays, "win-or-tie"):
        player, rolled, taken = lines[found.line - 1].split(",")
        assert found.chance is not None
        assert found.chance_lost is not None
        lost = points(found.chance_lost, 2) if found.chance_lost > 1e-9 else "–"
        rows.append(
            [
                player,
                rolled,
                taken.replace("-", "none"),
                percent(found.chance),
                lost,
                str(found.best_chance),
            ]
        )
    page.text("""
        ## The source's game

        The game printed at its end, by `rollwise judge`: each player's probability before each
        choice, the loss in percentage points, and the best choice:
    """)
    head = ["player", "rolled", "taken", "chance", "lost", "best"]
    page.table(head, rows, words=3)


def many(page: Page) -> None:
    """Thousands of dice."""
    most = 60 if page.small else 5000
    found = rollwise.many_dice(Threes(), most)
    shown = [n for n in (5, 10, 100, 1000, 5000) if n <= most]
    rows = []
    for n in shown:
        value, bound = found.value(n)
        rows.append([f"{n:,}", certified(value, bound)])
    page.text("""
        ## Question 1: thousands of dice

        *What challenges would be faced if the number of dice was, say, 5000?* The rolls of so many
        dice need not be distinguished: nearly always the number of threes decides
        ([method](../threes.md#thousands-of-dice)). Nearly all of many dice can be taken as threes:
    """)
    page.table(["dice", "expected score, certified"], rows)
    numbers = list(range(1, 31))
    figure = draw_lines(
        [
            Line("at least one to take", numbers, [found.value(n)[0] for n in numbers], BLUE),
            Line(
                "at least two to take",
                numbers[1:],
                [found.value(n, take_two=True)[0] for n in numbers[1:]],
                ORANGE,
            ),
        ],
        title="Threes: the expected score of so many dice",
        notes=[],
        x_title="dice to roll",
        y_title="expected score (points)",
        baseline=True,
    )
    alt = (
        "Threes: the expected score of so many dice, rising ever more slowly from one die on, to a "
        "level that the first dozen dice nearly reach"
    )
    page.figure("many", figure, alt)


def betting(page: Page, solution: Solution) -> None:
    """Fair odds, the edge over a weak opponent, doubling."""
    contest = Contest(solution.game, 2, "shared")
    solved = solve_contest(contest)
    rows = []
    for score in (0, 3, 5, 7, 10) if not page.small else (0, 3):
        shares, _ = solved.moment([score])
        first, second = shares.tolist()
        rows.append(
            [
                str(score),
                percent(second),
                f"{(1 - second) / second:.2f}",
                f"{100 * first:.2f}",
                f"{100 * second:.2f}",
            ]
        )
    edge = best_response(solution.game.contest(), "take-one", starts=[0])
    score = 7 if not page.small else 3
    advice = advise_double(solved, (score,))
    page.text("""
        ## Question 2: betting

        *How could this be used to maximise earnings?* Odds are fair if they follow the
        probabilities. Once the first player has finished, with ties shared: the second's
        probability, fair odds, and fair parts of a pot of 100.
    """)
    page.table(
        ["first scored", "second's chance", "odds against", "first's part", "second's"], rows
    )
    page.text(f"""
        Against a player who always takes one die, a unit a game brings {edge.values[0]:+.4f} on
        average when one rolls first and {edge.values_second[0]:+.4f} rolling second. With a
        doubling cube: when the first made {score}, the second should
        {"" if advice.offer else "not "}offer to double at once and the first should
        {"" if advice.accept else "not "}accept; that is worth
        {advice.value:+.4f} a unit to the second, and {advice.no_offer:+.4f} without an offer.
        (`rollwise bet threes`)
    """)


def players(page: Page, dice: int) -> None:
    """More than two players."""
    most = 3 if page.small else 5
    rows, gap = [], 0.0
    for n in range(2, most + 1):
        solved = solve_contest(Contest(Threes(dice=dice), n, "shared"))
        gap = max(gap, solved.optimality_gap)
        shares = [percent(float(p)) for p in solved.probabilities]
        rows.append([str(n), *shares, *[""] * (most - n)])
    page.text("""
        ## Question 3: more than two players

        *How would it be solved?* From the last player backwards, against the best score so far.
        Each player's share of the prize under such play, ties shared:
    """)
    page.table(["players", *[f"no. {i + 1}" for i in range(most)]], rows)
    page.text(f"""
        No player gains more than {power(gap)} by playing otherwise (proved).
    """)


def main(arguments: list[str] | None = None) -> None:
    """Make the page."""
    run("threes", study, arguments)


if __name__ == "__main__":
    main()
