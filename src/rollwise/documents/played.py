"""Documents of games played by people, and of the number of moves of a game."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from rollwise.documents.design import WINS
from rollwise.documents.model import (
    UNSET,
    Bound,
    Chance,
    EquallyGood,
    Figure,
    GameDocument,
    Maybe,
    Number,
    Part,
    Rows,
    about,
    as_number,
    number_or_none,
    unit,
)
from rollwise.documents.simulated import Mean
from rollwise.documents.solved import Unit
from rollwise.game import Game
from rollwise.graph import sign_of, win_probability
from rollwise.graph.naming import faces_thrown
from rollwise.numbers.printed import (
    POINTS,
    between,
    certified,
    digits_of,
    in_common,
    percents,
    rounded_up,
    scaled,
)

if TYPE_CHECKING:
    from rollwise.analysis.length_range import LengthRange, Spread
    from rollwise.analysis.lengths import Curve
    from rollwise.answer.solution import Solution
    from rollwise.coach.ledger import Account
    from rollwise.coach.review import PlayerReview, Question
    from rollwise.coach.session import Session
    from rollwise.coach.table import Table
    from rollwise.coach.tally import Tally
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Policy, Ties


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
        from rollwise.coach.ledger import stake

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


Level = Annotated[float, unit("value")]
Change = Annotated[float, unit("value", "change of the value for the player")]
Cost = Annotated[float, unit("value", "loss to the best action")]
Grades = Annotated[dict[str, int], about("number of doubtful, bad and very bad decisions")]
Grade = Annotated[str | None, about("doubtful, bad or very bad")]


class Moments(Part, frozen=True):
    """A certified mean and standard deviation."""

    mean: Figure | None
    standard_deviation: Figure | None


class AimedMoves(Part, frozen=True):
    """The expected moves of a game for an aim of its players."""

    aim: str
    words: Annotated[str, about("the aim in words")]
    low: Annotated[float | None, about("proved lower bound of the mean; null: endless play")]
    high: Annotated[Number, about("proved upper bound of the mean")]
    mean: Figure | None
    standard_deviation: Figure | None
    endless: Annotated[str, about("the reason, if play can last forever")]
    equally_good: Annotated[
        Maybe[EquallyGood | None],
        about("for this aim: another choice may have another standard deviation; not by layers"),
    ] = UNSET

    @property
    def cells(self) -> list[str]:
        """The moves and their standard deviation."""
        from rollwise.analysis.length_range import OPPOSED

        if self.mean:
            return _cells(self)
        if self.low is None:
            return ["-" if self.aim in OPPOSED else "no end", ""]
        low, high = between(self.low, as_number(self.high))
        return [f"at least {low}" if self.high is None else f"{low} to {high}", "-"]


def _cells(of: Moments | AimedMoves) -> list[str]:
    """A mean and a standard deviation with their bounds."""
    both = (of.mean, of.standard_deviation)
    return [str(certified(x.value, x.error_bound)) for x in both if x]


class MovesOfGame(GameDocument, frozen=True, kw_only=True, tag="rollwise/length/1"):
    """The expected moves of a game for each aim of its players, and their spread."""

    policy: str | None
    unit: str
    lengths: list[AimedMoves]
    score: Annotated[Moments | None, about("points of the policy")]
    timed_out: bool
    equally_good: Annotated[EquallyGood | None, about("of the policy")]

    def blocks(self) -> Iterator[str | Rows]:
        yield f"{self.title}: expected moves of a game from the start"
        rows = [(one.words, *one.cells) for one in self.lengths]
        if self.score:
            rows.append((f"points of {self.policy}", *_cells(self.score)))
        yield Rows(("", "moves", "standard deviation"), rows, left=("",))
        yield "all figures are certified"
        for one in self.lengths:
            if one.endless:
                yield f"{one.words}: {one.endless}"
        yield from self._about_ties()
        if self.equally_good:
            yield f"policy {self.policy}, {self.equally_good.text}"

    def _about_ties(self) -> Iterator[str]:
        """The effect of ties on the standard deviations of the aims."""
        tied = [one for one in self.lengths if one.equally_good and one.aim != "policy"]
        if tied:
            counts = sorted(one.equally_good.states for one in tied if one.equally_good)
            some = " to ".join(f"{n:,}" for n in dict.fromkeys((counts[0], counts[-1])))
            aims = tied[0].words if len(tied) == 1 else f"{len(tied)} of these aims"
            yield (
                f"{aims}: in {some} of the states that play comes to, several actions are equally "
                "good; another choice may have another standard deviation"
            )
        if any(one.equally_good is UNSET and one.standard_deviation for one in self.lengths):
            yield (
                "where several actions are equally good for an aim, another choice may have "
                "another standard deviation"
            )


def length_document(game: Game | StateGraph, lengths: LengthRange) -> MovesOfGame:
    """The expected moves of a play for each aim of its players, and their spread."""
    return MovesOfGame.on(
        game,
        kind="certified",
        policy=lengths.policy or None,
        unit="moves",
        lengths=[
            AimedMoves.from_result(
                one,
                words=lengths.words(one),
                low=one.bracket and one.bracket.low,
                high=one.bracket and number_or_none(one.bracket.high),
                equally_good=UNSET
                if one.by_layers
                else lengths.ties
                if one.aim == "policy"
                else one.ties,
                **_moments(one.moves),
            )
            for one in lengths.lengths
        ],
        score=None
        if lengths.score is None
        else Moments.from_result(None, **_moments(lengths.score)),
        timed_out=lengths.timed_out,
        equally_good=lengths.ties,
    )


class TurnRow(Part, frozen=True):
    """The chances within a number of turns."""

    turns: int
    over: Chance
    won: Annotated[list[Chance], about("by each seat; its share of the win with three or more")]
    best: Annotated[Maybe[Chance], about("the largest chance of the first seat")] = UNSET


class WithinTurns(GameDocument, frozen=True, kw_only=True, tag="rollwise/length/within/1"):
    """The chances that a game is over, and won, within 1, 2, 3, ... turns (--within)."""

    policies: Annotated[list[str], about("of each seat, or one for all")]
    unit: str
    equally_good: EquallyGood | None
    error_bound: Annotated[Bound, about("of each chance")]
    rows: list[TurnRow]

    def blocks(self) -> Iterator[str | Rows]:
        first, seats = self.rows[0], len(self.rows[0].won)
        names = ["won"] if seats == 1 else [f"player {seat + 1} won" for seat in range(seats)]
        heads = [self.unit, "over", *names]
        columns = [[row.over for row in self.rows]]
        columns += [[row.won[seat] for row in self.rows] for seat in range(seats)]
        if first.best is not UNSET:
            heads.append("best chance" if seats == 1 else "best chance of player 1")
            columns.append([row.best or 0.0 for row in self.rows])
        # each column has its own last digit, which its bounds justify
        found = [in_common(percents(one, self.error_bound)) for one in columns]
        counts = [str(row.turns) for row in self.rows]
        yield f"{self.title}: chances within a number of {self.unit}, {self.played}"
        yield Rows(tuple(heads), list(zip(counts, *(cells for cells, _ in found), strict=True)))
        yield found[0][1].sure
        if seats > 2:
            yield "players who win together share the win"
        if first.best is not UNSET:
            others = " while all others keep to their policies"
            against = {1: "", 2: " against the best defence"}.get(seats, others)
            yield f"best chance: with the best policy for each number of {self.unit}{against}"
        if self.equally_good:
            yield self.equally_good.text

    @property
    def played(self) -> str:
        """The policies in words."""
        if len(self.policies) > 2:
            return f"policies {', '.join(self.policies)}"
        return f"policy {' against '.join(self.policies)}"


def within_document(
    graph: StateGraph, policies: Sequence[Policy], found: Curve, ties: Ties | None
) -> WithinTurns:
    """The chances that a game is over, and won, by the number of turns."""
    rows = [
        TurnRow(
            k + 1,
            float(over),
            [float(one[k]) for one in found.won],
            UNSET if found.best is None else float(found.best[k]),
        )
        for k, over in enumerate(found.over)
    ]
    return WithinTurns.on(
        graph,
        kind="certified",
        policies=[policy.name for policy in policies],
        unit=found.unit,
        equally_good=ties,
        error_bound=found.error_bound,
        rows=rows,
    )


def _moments(spread: Spread | None) -> dict[str, Any]:
    if spread is None:
        return {"mean": None, "standard_deviation": None}
    return {"mean": spread.mean, "standard_deviation": spread.deviation}


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
    from rollwise.coach.ledger import grade_counts

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
    from rollwise.coach.ledger import grade

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


class RepeatedMistake(Part, frozen=True):
    """A mistake of a player, with the number of its repetitions."""

    action: str
    best: str
    times: int
    cost: Annotated[Cost, about("in all")]
    worst_cost: Cost
    worst_at: Annotated[str, about("the position")]
    line: Annotated[int, about("of the file of games")]


class ReviewedPlayer(Part, frozen=True):
    """The games of a player."""

    player: str
    games: int
    finished: int
    decisions: Annotated[int, about("moves with more than one action")]
    grades: Grades
    mistakes: Annotated[list[RepeatedMistake], about("the most frequent first")]
    cost: Annotated[Cost, about("in all")]
    result: Annotated[Level | None, about("of a finished game, on average")]
    luck: Annotated[Change | None, about("in a finished game")]
    own_skill: Annotated[Change | None, about("in a finished game")]
    others_skill: Annotated[Change | None, about("in a finished game")]
    start: Annotated[Level | None, about("on average over the seats taken in finished games")]
    score: Annotated[
        Level | None, about("expected result against the optimal player, from finished games")
    ]
    standard_error: Annotated[
        float | None, about("of the score; null: one finished game, equal scores, or infinite")
    ]
    cost_per_decision: Cost

    def cells(self, figures: Figures) -> list[str]:
        """The row of the player."""
        error = self.standard_error
        spread = "" if error is None else f" ± {figures.spread(error)}"
        finished = "" if self.finished == self.games else f", {self.finished} finished"
        numbers = [self.luck, self.own_skill]
        return [
            self.player,
            f"{self.games}{finished}",
            *map(str, (self.decisions, *self.grades.values())),
            figures.cost(self.cost_per_decision),
            *("-" if number is None else figures.gain(number) for number in numbers),
            "-" if self.score is None else figures.level(self.score) + spread,
        ]

    def lines(self, figures: Figures) -> Iterator[str | Rows]:
        """The mistakes of the player."""
        if not self.mistakes:
            yield f"{self.player}: no mistakes"
            return
        yield f"{self.player}: mistakes, the most frequent first"
        rows = (
            (
                str(mistake.times),
                mistake.action,
                mistake.best,
                figures.cost(mistake.cost),
                figures.cost(mistake.worst_cost),
                f"{mistake.worst_at} (line {mistake.line})",
            )
            for mistake in self.mistakes
        )
        words = ("did", "better", "at")
        heads = ("times", *words[:2], "cost in all", "at worst", words[2])
        yield Rows(heads, rows, left=words, indent=2)


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
        yield Rows(heads, [one.cells(figures) for one in self.by_player], left=("player",))
        if any(one.standard_error is not None for one in self.by_player):
            yield "± one standard error over the games (estimated)"
        if any(one.finished < one.games for one in self.by_player):
            yield "luck, skill and the result against the optimal player are of finished games"
        for one in self.by_player:
            yield from one.lines(figures)
        if len(self.ledgers) == 1:
            yield from self.ledgers[0].lines(figures)


def review_document(
    table: Table, sessions: Sequence[Session], players: Sequence[PlayerReview]
) -> Reviewed:
    """Written games together, and the ledger of each."""
    from rollwise.coach.ledger import stake

    return Reviewed.on(
        table.graph,
        kind="certified",
        games=len(sessions),
        unit=table.graph.view.worth_name,
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
    from rollwise.coach.ledger import grade

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
