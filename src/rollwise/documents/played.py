"""Documents of games played by people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np

from rollwise.coach.ledger import Change, Cost, Grades, Level, grade, grade_counts, stake
from rollwise.coach.review import ReviewedPlayer
from rollwise.documents.design import WINS
from rollwise.documents.model import (
    Bound,
    GameDocument,
    Part,
    Rows,
    about,
    as_number,
)
from rollwise.documents.simulated import Mean
from rollwise.documents.solved import Unit
from rollwise.graph import sign_of, win_probability
from rollwise.graph.naming import faces_thrown
from rollwise.numbers.printed import (
    POINTS,
    digits_of,
    rounded_up,
    scaled,
)

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution
    from rollwise.coach.ledger import Account
    from rollwise.coach.review import Question
    from rollwise.coach.session import Session
    from rollwise.coach.table import Table
    from rollwise.coach.tally import Tally


class Figures:
    """The units of a game's values in printed text.

    Values of a game that is won or lost run from -1 to 1; people think in chances.
    A difference of 1 % of all games is a percentage point.

    Attributes
    ----------
    has_stakes : bool
        Whether values are expected payoffs.
    unit : str
        Unit of values.
    points : str
        Unit of differences of values.
    wanted : str
        Words behind `points` where small values are good.
    certainty : str
        The kind of proof behind the values.
    """

    @classmethod
    def of(cls, solution: Solution) -> Figures:
        """The units of a solution."""
        graph = solution.graph
        return cls(graph.view.worth_name, graph.objective, solution.error_bound, stake(solution))

    def __init__(self, unit: str, objective: str, error_bound: float, stake: float) -> None:
        self.is_score, self.has_stakes = unit != WINS, unit == "expected payoff"
        self.unit = unit if self.is_score else "chance to win"
        self.wanted = "; few are good" if objective == "minimize" else ""
        self._good = sign_of(objective)
        self.points = "points" if self.is_score else POINTS
        self._scale, self._digits = (1, digits_of(stake, 3)) if self.is_score else (50, 2)
        bound = rounded_up(scaled(error_bound, self._scale))
        rounding = f"{10**-self._digits:.{self._digits}f}"
        self.certainty = f"certified ± {bound} {self.points}, and shown rounded to {rounding}"

    def level(self, value: float) -> str:
        """A value."""
        number, unit = (value, "") if self.is_score else (100 * win_probability(value), " %")
        return f"{number:z.{self._digits}f}{unit}"

    def change(self, value: float) -> str:
        """A difference of values, with its sign, in `points`."""
        return f"{self._scale * value:+z.{self._digits}f}"

    def gain(self, value: float) -> str:
        """Luck or skill, in `points`: negative where bad, also where few points are good."""
        return self.change(self._good * value)

    def cost(self, value: float) -> str:
        """The cost of a choice, in `points`."""
        shown = f"{self._scale * value:z.{self._digits}f}"
        least = f"{10**-self._digits:.{self._digits}f}"
        return f"<{least}" if value > 0 and float(shown) == 0 else shown

    def cost_text(self, value: float) -> str:
        """The cost of a choice, with its unit."""
        return f"{self.cost(value)} {self.points}"

    def spread(self, value: float) -> str:
        """A standard error, in `points`."""
        return f"{self._scale * value:.{self._digits}f}"


Grade = Annotated[str | None, about("doubtful, bad or very bad")]


class BySide(Part, frozen=True):
    """Luck or skill on the player's moves, and on those of all others."""

    own: Change
    other: Change


class MoveAccount(Part, frozen=True):
    """A move, in the eyes of a player."""

    move: Annotated[int, about("from 1")]
    line: Annotated[int | None, about("of the file of games")]
    player: Annotated[str, about("the mover")]
    position: str
    action: str
    dice: list[int]
    outcome: str
    choice: Annotated[bool, about("whether there was more than one action")]
    mistake: Annotated[bool, about("worse than the best action, beyond the error bound")]
    best: str
    cost: Cost
    grade: Grade
    skill: Change
    luck: Change


class GameLedger(GameDocument, frozen=True, kw_only=True, tag="rollwise/play/1"):
    """A game so far, in the eyes of a player: luck and skill add up to the result."""

    player: str
    over: bool
    seed: int | None
    start: Level
    result: Annotated[Level, about("or the present value")]
    luck: Change
    skill: Change
    luck_by_mover: BySide
    skill_by_mover: BySide
    error_bound: Bound
    decisions: Annotated[int, about("the player's moves with more than one action")]
    cost_per_decision: Cost
    grades: Grades
    mistakes: Annotated[list[MoveAccount], about("of all players, the worst first")]
    moves: list[MoveAccount]

    def lines(self, figures: Figures) -> Iterator[str | Rows]:
        """The moves of a recorded game."""
        yield f"The game, as {self.player} {'see' if self.player == 'you' else 'sees'} it"
        words = ("player", "position", "did", "result")
        rows = (
            (
                str(move.line),
                move.player,
                move.position,
                " ".join(map(str, [move.action, *faces_thrown(move.dice)])),
                move.outcome,
                figures.cost(move.cost) if move.mistake else "",
                figures.gain(move.skill),
                figures.gain(move.luck),
            )
            for move in self.moves
        )
        yield Rows(("line", *words, "cost", "skill", "luck"), rows, words, indent=2)
        yield (
            f"start {figures.level(self.start)}, luck {figures.gain(self.luck)}, "
            f"skill {figures.gain(self.skill)}, "
            f"{'result' if self.over else 'now'} {figures.level(self.result)}"
        )


def ledger_document(session: Session, seat: int = 0) -> GameLedger:
    """Everything about a game so far, in the eyes of a seat."""
    ledger, solution = session.ledger(seat), session.table.solution
    moves = [_move(session, entry, seat) for entry in session.accounts]
    costly = [move for move in moves if move.cost > 0 and move.mistake]
    decisions = [entry for entry in session.accounts if entry.is_choice and entry.seat == seat]
    cost = math.fsum(entry.cost for entry in decisions)
    return GameLedger.on(
        session.table.graph,
        ledger,
        kind="certified",
        player=session.names[seat],
        over=session.is_over,
        seed=session.seed,
        luck=ledger.total_luck,
        skill=ledger.total_skill,
        luck_by_mover=BySide(*ledger.luck),
        skill_by_mover=BySide(*ledger.skill),
        error_bound=solution.error_bound,
        decisions=len(decisions),
        cost_per_decision=cost / len(decisions) if decisions else 0.0,
        grades=grade_counts(solution, decisions),
        mistakes=sorted(costly, key=lambda move: -move.cost),
        moves=moves,
    )


def _move(session: Session, entry: Account, seat: int) -> MoveAccount:
    table, view = session.table, session.table.graph.view
    return MoveAccount(
        move=entry.number + 1,
        line=entry.line or None,
        player=session.names[entry.seat],
        position=table.narrator.position(entry.state),
        action=view.action(entry.action).distinct_name,
        dice=list(entry.faces),
        outcome=table.narrator.outcome_text(entry.action, entry.outcome),
        choice=entry.is_choice,
        mistake=entry.is_mistake,
        best=view.action(entry.best).distinct_name,
        cost=entry.cost,
        grade=grade(table.solution, entry.cost),
        skill=entry.skill_of(seat),
        luck=entry.luck_of(seat),
    )


class PlayerTally(Part, frozen=True):
    """Finished games of a player."""

    player: str
    games: int
    wins: int | None
    draws: int | None
    losses: int | None
    win_rate: Mean | None
    score: Annotated[Mean | None, about("points, or the gain")]
    start: Annotated[Level, about("with optimal play of all")]
    loss: Annotated[Mean | None, about("by the player's choices, in a game")]
    luck: Annotated[Change, about("in a game")]


class SeriesLedger(GameDocument, frozen=True, kw_only=True, tag="rollwise/play/series/1"):
    """A series of games: the tally of each player, and the ledgers."""

    games_asked: int
    games: Annotated[int, about("finished")]
    error_bound: Bound
    by_player: list[PlayerTally]
    ledgers: list[GameLedger]


def series_document(
    sessions: Sequence[Session], asked: int, tallies: Sequence[Tally]
) -> SeriesLedger:
    """A series of games: the tally of each player, and the ledgers."""
    table = sessions[0].table
    return SeriesLedger.on(
        table.graph,
        kind="certified",
        games_asked=asked,
        games=sum(session.is_over for session in sessions),
        error_bound=table.solution.error_bound,
        by_player=[_tally(one) for one in tallies],
        ledgers=[ledger_document(session) for session in sessions],
    )


def _tally(found: Tally) -> PlayerTally:
    rate = found.win_rate
    counts: tuple[int | None, ...] = (None, None, None)
    if rate is not None and rate.wins is not None:
        counts = (rate.wins, rate.draws, found.games - rate.wins - rate.draws)
    return PlayerTally.from_result(
        found,
        **dict(zip(("wins", "draws", "losses"), counts, strict=True)),
    )


class Reviewed(GameDocument, frozen=True, kw_only=True, tag="rollwise/review/1"):
    """Written games together, and the ledger of each."""

    games: int
    unit: Unit
    objective: Annotated[str, about("win, maximize or minimize")]
    error_bound: Bound
    stake: Annotated[float, about("a choice is doubtful if it costs 2 % of it, bad from 4 %")]
    by_player: list[ReviewedPlayer]
    ledgers: list[GameLedger]

    def blocks(self) -> Iterator[str | Rows]:
        bound = as_number(self.error_bound)
        figures = Figures(self.unit, self.objective, bound, self.stake)
        yield f"{self.title}: costs, luck and skill in {figures.points}{figures.wanted}"
        yield f"values are {figures.certainty}"
        grades = self.by_player[0].grades
        heads = ["player", "games", "decisions", *grades, "cost a decision", "luck a game"]
        heads += ["skill a game", f"against the optimal player ({figures.unit})"]
        yield Rows(heads, [_review_cells(one, figures) for one in self.by_player], ("player",))
        if any(one.standard_error is not None for one in self.by_player):
            yield "± one standard error over the games (estimated)"
        if any(one.finished < one.games for one in self.by_player):
            yield "luck, skill and the result against the optimal player are of finished games"
        for one in self.by_player:
            yield from _mistake_lines(one, figures)
        if len(self.ledgers) == 1:
            yield from self.ledgers[0].lines(figures)


def _review_cells(player: ReviewedPlayer, figures: Figures) -> list[str]:
    """The row of a player."""
    error = player.standard_error
    spread = "" if error is None else f" ± {figures.spread(error)}"
    finished = "" if player.finished == player.games else f", {player.finished} finished"
    numbers = [player.luck, player.own_skill]
    return [
        player.player,
        f"{player.games}{finished}",
        *map(str, (player.decisions, *player.grades.values())),
        figures.cost(player.cost_per_decision),
        *("-" if number is None else figures.gain(number) for number in numbers),
        "-" if player.score is None else figures.level(player.score) + spread,
    ]


def _mistake_lines(player: ReviewedPlayer, figures: Figures) -> Iterator[str | Rows]:
    """The mistakes of a player."""
    if not player.mistakes:
        yield f"{player.player}: no mistakes"
        return
    yield f"{player.player}: mistakes, the most frequent first"
    rows = (
        (
            str(mistake.times),
            mistake.action,
            mistake.best,
            figures.cost(mistake.cost),
            figures.cost(mistake.worst_cost),
            f"{mistake.worst_at} (line {mistake.line})",
        )
        for mistake in player.mistakes
    )
    words = ("did", "better", "at")
    heads = ("times", *words[:2], "cost in all", "at worst", words[2])
    yield Rows(heads, rows, left=words, indent=2)


def review_document(
    table: Table, sessions: Sequence[Session], players: Sequence[ReviewedPlayer]
) -> Reviewed:
    """Written games together, and the ledger of each."""
    return Reviewed.on(
        table.graph,
        kind="certified",
        games=len(sessions),
        objective=table.graph.objective,
        error_bound=table.solution.error_bound,
        stake=stake(table.solution),
        by_player=list(players),
        ledgers=[ledger_document(session) for session in sessions],
    )


class DrilledPosition(Part, frozen=True):
    """A position with a mistake."""

    position: str
    times: int
    action: Annotated[str, about("the mistake")]
    cost: Cost
    grade: Grade
    best: str


class Drilled(GameDocument, frozen=True, kw_only=True, tag="rollwise/drill/1"):
    """Positions with a mistake, the worst first."""

    error_bound: Bound
    positions: list[DrilledPosition]


def drill_document(table: Table, questions: Sequence[Question]) -> Drilled:
    """Positions with a mistake, the worst first."""
    view, solution = table.graph.view, table.solution
    best = solution.best_actions_in(np.array([one.state for one in questions], np.int64))
    return Drilled.on(
        table.graph,
        kind="certified",
        error_bound=solution.error_bound,
        positions=[
            DrilledPosition.from_result(
                one,
                position=table.narrator.position(one.state),
                action=view.action(one.action).distinct_name,
                grade=grade(solution, one.cost),
                best=view.action(int(action)).distinct_name,
            )
            for one, action in zip(questions, best, strict=True)
        ],
    )
