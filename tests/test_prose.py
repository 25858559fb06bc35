"""Figures in the sentences and tables of the documents, computed again.

Blocks that show what a command printed are held against the command (`test_documents.py`).
What a sentence says is held here: a sentence with gaps, and the figures that belong there.
Whoever types a figure of three decimals or more into a page adds its sentence here.
"""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest
from cli_runner import output

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
GENERATED = re.compile(r"<!-- from .*?<!-- end -->", re.S)
FIGURE = re.compile(r"(?<![\w./])\d+\.\d{3,}\b")
GAP = r"[^|]+?(?: \| [^|]+?)*"
# Not computed: what is given, such as a threshold, and what others printed.
GIVEN = {
    "learning.md": {"0.061", "0.0008"},  # of a million games, measured once
    "threes.md": {"0.002", "0.0053"},
}


@cache
def told(*words: str):
    """The document that a command prints."""
    return json.loads(output(*words, "--json"))


def prose(page: str) -> str:
    """A page without its blocks, each run of blanks as one."""
    return " ".join(GENERATED.sub("", FENCED.sub("", (DOCS / page).read_text())).split())


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_no_exact_figure_is_typed_by_hand(page):
    """What is left of a page without blocks and without the sentences that are held below."""
    rest = re.sub(r"`[^`]*`|\]\([^)]*\)", "", prose(page))
    for call in ast.walk(ast.parse(Path(__file__).read_text())):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "says":
            name, sentence = (ast.literal_eval(part) for part in call.args[:2])
            if name == page:
                words = re.sub(r"`[^`]*`", "", " ".join(sentence.split()))
                gaps = re.sub(r"\\{[^}]*\\}", lambda _: GAP, re.escape(words))
                rest = re.sub(gaps, "", rest)
    assert set(FIGURE.findall(rest)) <= GIVEN.get(page, set())


def says(page: str, sentence: str, *figures: object) -> None:
    """The page says the sentence, with these figures in its gaps."""
    expected = " ".join(sentence.format(*figures).split())
    assert expected in prose(page), f"{page} doesn't say: {expected}"


def dice(n: int, two: int) -> str:
    """The exact mean of a roll of so many dice in Threes."""
    words = ("threes", "--method", "exact", "--where", f"to_roll == {n} and take_two == {two}")
    (row,) = told("table", *words)["rows"]
    return row["value"], row["value_exact"]


@pytest.mark.slow
@pytest.mark.needs_jit
def test_threes_means():
    for n, two in ((1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1), (5, 0), (5, 1)):
        value, exact = dice(n, two)
        shown = exact if "/" not in exact else f"{value:.6f}"
        says("threes.md", "| {} | {} | {} | {} |", n, "yes" if two else "no", shown, exact)
    plain = told("solve", "threes", "skip=false", "--method", "exact")
    says(
        "threes.md",
        "five dice cost {} = {} on average, which is the published figure; refusing is worth "
        "{:.2f}.",
        plain["value_exact"],
        plain["value"],
        plain["value"] - dice(5, 0)[0],
    )
    says("methods.md", "18 digits over 18")
    one, *others = (
        told(
            "advise",
            "super-six",
            f"sticks={3 + 2 * n}",
            "--method",
            "exact",
            "--state",
            f"lid=3,mine={n},theirs={n},forced=0",
        )["win_probability_exact"]
        for n in (1, 2, 3, 4)
    )
    lengths = [[len(part) for part in fraction.split("/")] for fraction in others]
    says(
        "methods.md",
        "{} for n = 1 (win probability), {} digits over {} for n = 2, {} over {} for n = 3 and "
        "{} over {} for n = 4.",
        one,
        *(length for pair in lengths for length in pair),
    )


@pytest.mark.slow
@pytest.mark.needs_jit
def test_threes_contests():
    two = told("solve", "threes", "as=contest", "players=2")
    five = told("solve", "threes", "as=contest", "players=5")
    first = told("solve", "threes", "as=contest", "players=2", "ties=first")
    tie = told("solve", "threes", "as=contest", "players=2", "ties=win-or-tie")
    for name, found in (
        ("two, ties shared", two),
        ("two, ties to the first", first),
        ("two, to win or to tie (the source)", tie),
        ("five, ties shared", five),
    ):
        chances = " | ".join(f"{chance:.6f}" for chance in found["probabilities"])
        says("threes.md", "| {} | {} |", name, chances)
    says(
        "threes.md",
        "Of two, {:.1f} percentage points more than to roll first.",
        100 * two["last_minus_first"],
    )
    plain = [found["first_player"]["range_playing_for_the_mean"] for found in (two, five)]
    says(
        "threes.md",
        "the first player wins {:.4f} instead of {:.4f} to {:.4f} if he plays for the chance and "
        "not for the mean, and pays for it with {:.3f} points. (Policies of the least mean differ "
        "in that, [see below](#all-optimal-policies).) Of five he wins {:.4f} instead of {:.4f} "
        "to {:.4f}, at a mean of {:.2f} instead of {:.2f}.",
        two["first_player"]["probability"],
        plain[0]["least"],
        plain[0]["most"],
        two["first_player"]["mean_score"] - two["first_player"]["mean_score_playing_for_the_mean"],
        five["first_player"]["probability"],
        plain[1]["least"],
        plain[1]["most"],
        five["first_player"]["mean_score"],
        five["first_player"]["mean_score_playing_for_the_mean"],
    )
    says("threes.md", "these are {} small problems", five["situations"])


@cache
def of_all_optimal(*words: str) -> dict[str, tuple[float, float]]:
    """The least and the most of quantities of Threes over all optimal policies."""
    asked = [part for word in words for part in ("--range", word)]
    ties = ("--ties", "win-or-tie") if "win" in words else ()
    found = told("optimal", "threes", *asked, *ties)["ranges"]
    return {one["name"]: (one["least"], one["most"]) for one in found}


def spread() -> list[float]:
    """The least and the largest standard deviation of optimal play in Threes."""
    return [end**0.5 for end in of_all_optimal("variance")["variance"]]


@pytest.mark.needs_jit
def test_all_optimal_policies_of_threes():
    found = of_all_optimal("score=0", "score<=5", "win")
    five = found["score<=5"]
    says("threes.md", "| {:.3f} to {:.3f} | {:.3f} to {:.3f} |", *spread(), *five)
    percent = {name: [100 * end for end in ends] for name, ends in found.items()}
    says("threes.md", "| chance of 0 points | {:.3f} % | {:.3f} % |", *percent["score=0"])
    says("threes.md", "| chance of 5 points or fewer | {:.2f} % | {:.2f} % |", *percent["score<=5"])
    says("threes.md", "| standard deviation | {:.3f} | {:.3f} |", *spread())
    says(
        "threes.md",
        "| the second wins or ties, knowing the score | {:.3f} % | {:.3f} % |",
        *(100 - end for end in reversed(percent["win"])),
    )
    assert told("optimal", "threes")["loss_bound"] < 1e-12


@pytest.mark.slow
@pytest.mark.needs_jit
def test_threes_distributions_and_bets():
    words = ("--policy", "optimal", "--policy", "take-one", "--at-most", "5")
    for entry in told("distribution", "threes", *words)["policies"]:
        if entry["policy"] == "take-one":
            says(
                "threes.md",
                "| take-one | {:.6f} | {:.6f} | {:.6f} |",
                entry["mean"],
                entry["sd"],
                entry["at_most"]["probability"],
            )
        if entry["policy"] == "optimal":
            says("threes.md", "| optimal | {:.6f} | {:.3f} to {:.3f} |", entry["mean"], *spread())
            says("threes.md", "over 300 games is {:.2f},", entry["sd"] / 300**0.5)
            says("threes.md", "can't be told from {:.2f}.", entry["mean"])
    bet = told("bet", "threes", "--scores", "7", "--against", "take-one")
    double, edge = bet["double"], bet["edge"]
    says(
        "threes.md",
        "the second ({:.1f} %) should offer at once, {:+.3f} a unit instead of {:+.3f}, and the "
        "first should accept. Against a player of one die at a time, best play is worth "
        "{:+.3f} a unit going first and {:+.3f} going second, where −{:.3f} and {:+.3f} would be "
        "fair.",
        100 * bet["stakes"][1]["probability"],
        double["accepted"],
        double["no_offer"],
        edge["going_first"],
        edge["going_second"],
        -edge["fair_first"],
        edge["fair_second"],
    )
    assert (double["offer"], double["accept"]) == (True, True)
    judged = told(
        "judge", "threes", str(ROOT / "examples" / "threes_game.csv"), "--ties", "win-or-tie"
    )
    worst = max(judged["moves"], key=lambda move: move["chance_lost"] or 0.0)
    says("threes.md", "it lost {:.1f} percentage points.", 100 * worst["chance_lost"])
