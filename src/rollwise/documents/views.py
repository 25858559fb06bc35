"""Results in Python as lines and tables: the notebook views, and the texts of `print`.

A view is found by the class of the result. Most are documents of the command line. A result without
a view of its own is a table of its fields.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from rollwise.documents.model import Aligned, Rows, html_of, text_of
from rollwise.graph.naming import in_fields, state_text
from rollwise.hooks import SHORT
from rollwise.numbers.printed import (
    certified,
    column,
    digits_of,
    how_many,
    in_common,
    percents,
)

MOST_SCORES = 40  # of a distribution, in a table
FEW = 10  # rows of a strategy, or positions of a learner

Blocks = Iterable[str | Rows]


def notebook_view(of: Any) -> str:
    """The notebook view of a game, an answer, advice, a result, or findings of `check`."""
    return html_of(_blocks(of))


def text_view(of: Any) -> str:
    """Advice or a result in the words of the command line."""
    return text_of(_blocks(of))


def _blocks(of: Any) -> Blocks:
    for kind in type(of).__mro__:
        name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("rollwise.")
        if name in VIEWS:
            view = VIEWS[name]
            return _document(view, of) if isinstance(view, str) else view(of)
    return _fields(of)


def _document(place: str, *given: Any) -> Blocks:
    """The blocks of the document that a function of this room makes: ``module.function``."""
    module, _, function = place.rpartition(".")
    found = importlib.import_module(f"rollwise.documents.{module}")
    blocks: Blocks = getattr(found, function)(*given).told()
    return blocks


def _fields(of: Any) -> Blocks:
    cells = [(one.name, SHORT.repr(getattr(of, one.name))) for one in fields(of) if one.repr]
    return [Rows(("", type(of).__name__), cells, left=("", type(of).__name__))]


def _game(of: Any) -> Blocks:
    heads = ("parameter", "value", "meaning")
    given = {spec.name: spec.default for spec in of.specs} | of.parameters
    cells = [(spec.name, str(given[spec.name]), spec.about) for spec in of.specs]
    first = of.description.partition("\n")[0]
    return [
        f"{of.name}: {first}" if first else of.name,
        *([Rows(heads, cells, left=heads)] if cells else []),
    ]


def _findings(of: Any) -> Blocks:
    from rollwise.documents.games import Checked

    return [of.game, *Checked.from_result(of).blocks()]


def _solution(of: Any) -> Blocks:
    from rollwise.answer.average import average_of
    from rollwise.answer.rows import ROWS_SEARCHED
    from rollwise.derive.average import Average
    from rollwise.documents.answers import strategy_rows
    from rollwise.words import in_words

    few = len(of) <= ROWS_SEARCHED  # soon sorted
    states = of.states_where()[:FEW] if few else np.arange(FEW)
    rows = strategy_rows(in_words(of.game, of.cells_of(states)))
    head = repr(of)[1:-1]
    if isinstance(of.game, Average):
        head = f"{of.title}: average in the long run {certified(*average_of(of))}"
    return [head, rows, f"{len(states)} of {len(of):,} states, see table()"]


def _equilibrium(of: Any) -> Blocks:
    from rollwise.answer.solution import Solution

    return _solution(Solution.of_equilibrium(of))


def _advice(of: Any) -> Blocks:
    return [state_text(of.state), *_document("answers.advice_document", None, of)]


def _evaluation(of: Any, place: str = "answers.evaluation_document") -> Blocks:
    state = int(np.argmin(np.isnan(of.values)))  # the first one that was evaluated
    return _document(place, of.graph, of, state, of.ties)


def _grid(of: Any) -> Blocks:
    origin = tuple(map(int, of.origin))
    return [
        f"the best action (rows: {of.row_field}, columns: {of.column_field}; -1: no position)",
        Aligned.matrix(of.actions.tolist(), origin, "d"),
        f"its value (± {of.error_bound:.1e} before it was rounded)",
        Aligned.matrix(of.worth.tolist(), origin, ".6f"),
    ]


def _distribution(of: Any) -> Blocks:
    from rollwise.documents.scores import Distributions, distribution_document

    scores = distribution_document("distribution", of, None)
    if len(scores.rows) > MOST_SCORES:
        return scores.lines()
    facts: dict[str, Any] = {"game": "", "parameters": {}, "state": {}}
    return Distributions(**facts, counted="points", policies=[scores]).blocks()


def _contest(of: Any) -> Blocks:
    contest = of.contest
    chances, worst = in_common(percents(of.probabilities, of.error_bound))
    cells = [(str(player), number) for player, number in enumerate(chances, 1)]
    return [
        f"a contest of {contest.players} players in {contest.game.name}, ties: {contest.ties}",
        Rows(("player", "wins"), cells),
        worst.sure,
    ]


def _learned(of: Any) -> Blocks:
    table = of.table()
    head = table.sort(table.columns[-1], descending=True, maintain_order=True).head(FEW)
    rows = [in_fields(head.columns, row, of.graph.words) for row in head.rows()]
    numbers = [x for row in rows for x in row.values() if isinstance(x, float)]
    digits = digits_of(max(map(abs, numbers), default=0.0), 4)

    def cell(x: Any) -> str:
        return "" if x is None else f"{x:.{digits}f}" if isinstance(x, float) else str(x)

    more = f"the {len(head)} most visited of {len(table):,} positions, see table()"
    return [
        f"{of.graph.title}: learned by {of.method} from {how_many(of.games, 'game')}, M "
        f"{of.explore:g}, seed {of.seed} (estimates)",
        Rows(head.columns, [tuple(map(cell, row.values())) for row in rows], left=("action",)),
        *([more] if len(table) > len(head) else []),
    ]


def _rules(of: Any) -> Blocks:
    if not of.rules:
        return ["no rule of thumb was found"]
    losses, worst = in_common(column([rule.loss for rule in of.rules], of.rules[-1].error_bound))
    cells = [
        (str(rule.numbers), loss, rule.text) for rule, loss in zip(of.rules, losses, strict=True)
    ]
    return [Rows(("numbers", "loss", "rule of thumb"), cells, left=("rule of thumb",)), worst.sure]


def _hidden(of: Any) -> Blocks:
    from rollwise.documents.hidden import answer_blocks

    return answer_blocks(of)


# By the module and the name of the class, without "rollwise.". A text names the function that makes
# the document of a result.
VIEWS: dict[str, str | Callable[[Any], Blocks]] = {
    "game.Game": _game,
    "analysis.findings.Report": _findings,
    "answer.solution.Solution": _solution,
    "many.equilibrium.Equilibrium": _equilibrium,
    "answer.advice.Advice": _advice,
    "answer.rows.Grid": _grid,
    "answer.evaluation.Evaluation": _evaluation,
    "answer.evaluation.BestResponse": lambda of: _evaluation(of, "answers.response_document"),
    "answer.evaluation.Shares": lambda of: _document("answers.shares_document", of.graph, of),
    "answer.evaluation.Response": (
        lambda of: _document("answers.seats_response_document", of.graph, of)
    ),
    "answer.verify.Verification": "games.verification_document",
    "analysis.balance.Balance": "balance.balance_document",
    "analysis.contest.ContestSolution": _contest,
    "analysis.contest.BlindContest": (
        lambda of: _document("contests.blind_contest_document", of, 0.0)
    ),
    "analysis.distributions.Distribution": _distribution,
    "analysis.distributions.Distributions": lambda of: _distribution(of.of(0)),
    "analysis.frontier.Frontier": "optimal.frontier_document",
    "analysis.handicap.Handicap": "design.handicap_document",
    "analysis.length_range.LengthRange": "design.length_document",
    "analysis.many_dice.ManyDice": "scores.many_dice_document",
    "analysis.thumb.frontier.Frontier": _rules,
    "hidden.answer.Answer": _hidden,
    "hidden.files.Checked": "hidden.checked_document",
    "learn.learned.Learned": _learned,
    "simulate.match.Match": "simulated.match_document",
    "simulate.tournament.Tournament": "simulated.tournament_document",
    "simulate.seats.Played": "simulated.seats_match_document",
    "simulate.seats.SeatsTournament": "simulated.tournament_document",
}
