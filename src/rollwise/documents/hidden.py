"""Answers to games with hidden dice or simultaneous choices, as documents."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from rollwise.documents.model import (
    ALIKE,
    UNSET,
    Bound,
    Bytes,
    Chance,
    Cost,
    GameDocument,
    Maybe,
    Number,
    Part,
    Rows,
    Seconds,
    Value,
    about,
    about_draws,
    about_wins,
    as_number,
    number_or_none,
    seconds_text,
)
from rollwise.graph import win_probability
from rollwise.graph.naming import state_text
from rollwise.hidden.learning import LearnedPoint
from rollwise.machine.memory_limits import peak_memory
from rollwise.numbers.printed import (
    Printed,
    certified,
    chance,
    digits_of,
    estimated,
    estimated_chance,
    how_many,
    in_bytes,
    rounded_up,
)

if TYPE_CHECKING:
    from rollwise.hidden import Answer, Situation
    from rollwise.hidden.files import Checked

PLAYERS = (("first", "second"), ("mover", "other"))
LONG = 5.0  # seconds of a solution whose memory the text mentions
MOST_RANGES = 250_000  # sequences times actions: about five seconds
REPORTED = 1_000  # situations of a page
RARE = 5e-5  # probabilities below aren't printed in a list of actions


class MixedAction(Part, frozen=True):
    """An action of a strategy."""

    action: str
    probability: Chance
    value: Annotated[Value, about("for this player, against the strategy of the other one")]
    cost: Cost
    probability_exact: Annotated[Maybe[str], about("a fraction")] = UNSET
    lowest: Annotated[Maybe[Chance], about("probability of all optimal strategies, to 1e-5")] = (
        UNSET
    )
    highest: Annotated[Maybe[Chance], about("as lowest; both are absent if it is one number")] = (
        UNSET
    )


class SituationRow(Part, frozen=True):
    """A situation: all that a player knows at a choice."""

    player: Annotated[
        str, about("first or second to move in the round; in a simultaneous choice mover or other")
    ]
    sees: Annotated[dict[str, Any], about("the visible fields")]
    before: Annotated[str, about("earlier sights and actions, where fields have changed since")]
    reach: Annotated[Chance, about("of coming here; null if unknown")]
    actions: list[MixedAction]
    visits: Annotated[
        Maybe[Number],
        about("how often play comes here on average, where rounds can return; reach is null then"),
    ] = UNSET
    round: Annotated[
        Maybe[dict[str, Any]],
        about("the fields with which it began; absent in a game of one round"),
    ] = UNSET

    @property
    def round_text(self) -> str:
        """The beginning of the round in words; empty in a game of one round."""
        return state_text(self.round) if self.round else ""

    @property
    def text(self) -> str:
        """The actions with their probabilities."""
        taken = [a for a in self.actions if as_number(a.probability) >= RARE]
        taken.sort(key=lambda a: -round(as_number(a.probability), 9))  # equal ones stay in order
        if len(taken) == 1:
            return taken[0].action
        return ", ".join(f"{a.action}: {share_text(a)}" for a in taken)

    @property
    def ranges(self) -> str:
        """The ranges of probabilities over all optimal strategies, for actions in one of them."""
        texts = [(a.action, range_text(a)) for a in self.actions]
        return ", ".join(f"{action}: {text}" for action, text in texts if text not in ("", "0 %"))

    @property
    def reach_text(self) -> str:
        """The chance of coming here, or the mean number of times; empty if unknown."""
        if self.visits:
            return f"{as_number(self.visits):.4g} times"
        return "" if self.reach is None else f"{100 * self.reach:.4g} %"

    @property
    def cells(self) -> tuple[str, ...]:
        """A row of a table."""
        known = self.round_text, self.player, state_text(self.sees), self.before
        return *known, self.text, self.ranges, self.reach_text


def range_text(action: MixedAction) -> str:
    """The range of a probability over all optimal strategies: "0 to 33.3 %"; else empty."""
    if not action.highest or action.lowest is UNSET:
        return ""
    low, high = (round(100 * as_number(x), 2) for x in (action.lowest, action.highest))
    return f"{low:g} to {high:g} %" if high > low else f"{low:g} %"


def share_text(action: MixedAction) -> str:
    """The probability of an action: a fraction if it is exact and short, else a percentage."""
    exact = action.probability_exact
    if exact and len(exact) <= 9:
        return exact
    return f"{100 * as_number(action.probability):.4g} %"


def situation_row(answer: Answer, situation: Situation, ranges: bool = False) -> SituationRow:
    """A situation of an answer as a row; `ranges` are those of all optimal strategies."""
    no_ends: list[tuple[float, ...]] = [()] * len(situation.names)
    ends = (answer.ranges(situation) if ranges else []) or no_ends
    values = np.array(situation.values)
    best = np.nanmax(values) if np.isfinite(values).any() else math.nan
    actions = [
        MixedAction(
            name,
            float(share),
            number_or_none(value),
            number_or_none(best - value),
            str(share) if isinstance(share, Fraction) else UNSET,
            *end,
        )
        for name, share, value, end in zip(
            situation.names,
            situation.probabilities,
            values.tolist(),
            ends,
            strict=True,
        )
    ]
    player = PLAYERS[not answer.positions.is_hidden][situation.seat]
    reach, began = number_or_none(situation.reach), answer.positions.about_rounds[situation.round]
    returns = answer.positions.may_return
    return SituationRow(
        player,
        dict(situation.sees),
        situation.before,
        None if returns else reach,
        actions,
        reach if returns and reach is not None else UNSET,
        began or UNSET,
    )


class InPayoffs(GameDocument, frozen=True, kw_only=True):
    """A document with payoffs."""

    unit: Annotated[str, about("win probability, or payoff where ends differ in payoff")]

    @property
    def counts(self) -> str:
        """The words behind a payoff, after a semicolon, where wins and losses count."""
        return f"; {about}" if (about := about_wins(self.unit)) else ""


class Worth(InPayoffs, frozen=True, kw_only=True):
    """A document with a payoff of the first player."""

    value: Annotated[Value, about("the first player's expected payoff: 1 a win, -1 a loss")]
    error_bound: Maybe[Bound] = UNSET
    draws: Annotated[bool, about("whether games can be drawn; a draw is half a win")]

    @property
    def is_stake(self) -> bool:
        """Whether payoffs differ from wins, losses and draws."""
        return self.unit != "win probability"

    @property
    def about_draws(self) -> str:
        """The words behind a chance to win."""
        return about_draws(self.draws and not self.is_stake)

    def worth_text(self) -> str:
        """The payoff with its bound: "wins 51 % (certified ± ...)"."""
        written = certified if self.is_stake else chance
        worth = written(self.value, as_number(self.error_bound))
        verb = "gets on average" if self.is_stake else "wins"
        return f"{verb} {worth.number} ({worth.sure}{self.about_draws})"


class HiddenSolved(Worth, frozen=True, kw_only=True, tag="rollwise/solve/hidden/1"):
    """The value of a game with hidden dice or simultaneous choices."""

    value_exact: Annotated[Maybe[str], about("a fraction")] = UNSET
    exploitability: Annotated[
        Number, about("the most that both players together gain by best responses; proved")
    ]
    method: str
    iterations: Annotated[Maybe[int], about("of regret minimization, or sweeps")] = UNSET
    positions: int
    histories: Annotated[Maybe[int], about("of play, where equal ones count once")] = UNSET
    situations: Annotated[Maybe[int], about("of both players")] = UNSET
    rounds: Annotated[Maybe[int], about("parts that begin anew, if several")] = UNSET
    memory: Annotated[Maybe[Bytes], about("the most memory of the process so far")] = UNSET
    kept_from: Annotated[Maybe[str], about("the run that found a kept answer")] = UNSET
    seconds: Seconds

    def blocks(self) -> Iterator[str | Rows]:
        yield self.title
        if self.value_exact:
            worth = f"gets on average {self.value_exact} (exact)"
            if not self.is_stake:
                share = win_probability(Fraction(str(self.value_exact)))
                percent = f"{100 * float(share):.6g} % (exact{self.about_draws})"
                worth = f"wins {share} of the games, {percent}"
            yield f"  the first player {worth}"
        else:
            yield f"  the first player {self.worth_text()}"
        if not self.is_stake and not self.value_exact:
            number = certified(self.value, as_number(self.error_bound))
            yield f"  value {number.number} ({number.sure})"
        if self.value_exact:
            yield "  neither player gains by another strategy (proved in fractions)"
        else:
            yield (
                "  no player gains more than "
                f"{rounded_up(as_number(self.exploitability))} by another strategy (proved)"
            )
        sizes = [how_many(self.positions, "position")]
        if self.histories:
            sizes += [how_many(self.histories, "history", "histories")]
            sizes += [how_many(self.situations or 0, "situation")]
        if self.rounds:
            sizes += [how_many(self.rounds, "round")]
        yield f"  {', '.join(sizes)}"
        rounds = {"matrix games": "sweep", "regret minimization": "iteration"}.get(self.method)
        times = f", {how_many(self.iterations, rounds)}" if self.iterations and rounds else ""
        is_long = self.memory and sum(self.seconds.values()) > LONG
        memory = f"; {in_bytes(as_number(self.memory or 0))} of memory" if is_long else ""
        spent = seconds_text(self.seconds, self.kept_from)
        yield f"  {self.method}{times}: {spent}{memory}"


class HiddenVerified(Worth, frozen=True, kw_only=True, tag="rollwise/verify/hidden/1"):
    """The check of a saved answer."""

    verified: bool
    value_exact: Annotated[Maybe[str], about("a fraction")] = UNSET
    exploitability: Number
    positions: int
    fault: Annotated[str, about("the reason for refusing the answer, or empty")]
    seconds: Seconds

    def blocks(self) -> Iterator[str | Rows]:
        if self.fault:
            yield f"{self.title} is refused: {self.fault}"
            return
        yield f"{self.title}: verified, without a solver"
        if self.value_exact:
            yield f"  both strategies prove in fractions that the value is {self.value_exact}"
        else:
            yield f"  both strategies prove that the first player {self.worth_text()}"
        yield f"  {proved_text(self.exploitability)}"
        yield f"  {how_many(self.positions, 'position')}, checked in {self.seconds['check']:.3f} s"


def checked_document(checked: Checked) -> HiddenVerified:
    """The document of `verify`."""
    answer = checked.answer
    return HiddenVerified.on(
        answer.game,
        **worth_facts(answer),
        verified=checked.verified,
        fault=checked.fault,
        seconds={"check": checked.seconds},
    )


class HiddenTable(GameDocument, frozen=True, kw_only=True, tag="rollwise/table/hidden/1"):
    """The strategies of both players, a row for each situation."""

    exploitability: Number
    total: Annotated[int, about("situations, of which rows may be left out")]
    rows: list[SituationRow]
    unique: Annotated[
        Maybe[bool],
        about("optimal strategies that lead here have these probabilities; absent if unknown"),
    ] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        cells = [row.cells for row in self.rows]
        heads = ("round", "player", "sees", "before", "plays", "optimal too", "reached")
        used = [k for k in range(len(heads)) if any(row[k] for row in cells)]
        yield Rows(
            [heads[k] for k in used], [[row[k] for k in used] for row in cells],
            heads[:-1], ("round", "before", "plays", "optimal too"),
        )  # fmt: skip
        if self.unique is False:
            yield OTHERS
        elif self.unique:
            yield UNIQUE
        if self.total > len(self.rows):
            yield f"{len(self.rows):,} of {self.total:,} situations (--limit N for more)"
        yield proved_text(self.exploitability)


OTHERS = (
    '"optimal too": these probabilities occur in optimal strategies (by linear programs, to 0.01 %)'
)
UNIQUE = (
    "all optimal strategies that lead to these situations have these probabilities (by linear "
    "programs, to 0.01 %)"
)


def proved_text(exploitability: Number) -> str:
    """The sentence about the quality of both strategies."""
    gain = as_number(exploitability)
    if gain == 0:
        return "exact: no other strategy of either player gains anything"
    return f"no other strategy of either player gains more than {rounded_up(gain)} (proved)"


class HiddenAdvised(InPayoffs, frozen=True, kw_only=True, tag="rollwise/advise/hidden/1"):
    """The actions in the situations in which a player sees these fields."""

    exploitability: Number
    stake: Annotated[Number, about("the largest payoff or reward of the rules")]
    total: int
    situations: list[SituationRow]

    def blocks(self) -> Iterator[str | Rows]:
        for row in self.situations:
            by = "" if row.visits else "with "
            reached = f", reached {by}{row.reach_text}" if row.reach_text else ""
            after = f" after {row.before}" if row.before else ""
            after += f", in the round from {row.round_text}" if row.round_text else ""
            who = f"{row.player} player" if row.player in PLAYERS[0] else row.player
            yield f"{who} sees {state_text(row.sees)}{after}{reached}"
            yield actions_table(row.actions, as_number(self.stake))
        if self.total > len(self.situations):
            left = self.total - len(self.situations)
            yield f"{how_many(left, 'more situation')}: give more fields, or see `rollwise table`"
        if any(a.value is None for row in self.situations for a in row.actions):
            yield "no payoff: the other player's strategy never leads here"
        if any(row.ranges for row in self.situations):
            yield OTHERS
        yield (
            "payoffs are against the strategy of the other player; the cost is to the best action"
            + self.counts
        )
        yield proved_text(self.exploitability)


def actions_table(actions: Sequence[MixedAction], stake: float) -> Rows:
    """Actions with their probabilities, payoffs and costs; `stake` is the largest payoff."""
    heads = ("action", "probability", "payoff", "cost", "optimal too")
    cells = [
        (a.action, share_text(a), *(_number(x, stake) for x in (a.value, a.cost)), range_text(a))
        for a in actions
    ]
    used = 5 if any(row[4] for row in cells) else 4
    return Rows(heads[:used], [row[:used] for row in cells], ("action",), indent=2)


def _number(number: Number, stake: float = 1.0) -> str:
    """A number in six decimals; in six digits of the largest payoff if that is tiny or huge."""
    if number is None or stake == 0 or 1e-3 <= stake < 1e9:
        return "" if number is None else f"{number:z.6f}"
    return f"{round(number, 6 - math.floor(math.log10(stake))):z.6g}"


def cost_text(cost: float, stake: float) -> str:
    """The cost of choices against the optimal strategy."""
    return f"{cost:z.{digits_of(stake, 4)}f}"


class HiddenEvaluated(Worth, frozen=True, kw_only=True, tag="rollwise/evaluate/hidden/1"):
    """The value of a pair of policies."""

    policy: str
    against: str
    lowest: Annotated[Maybe[Value], about("over all optimal strategies, to 1e-5")] = UNSET
    highest: Annotated[Maybe[Value], about("as lowest; both are absent if it is one number")] = (
        UNSET
    )
    loss: Annotated[Number, about("the most that the policy loses to any opponent, by seat mean")]
    loss_bound: Annotated[Bound, about("that of the loss")]

    def blocks(self) -> Iterator[str | Rows]:
        yield self.title
        yield f"  {self.policy} first, against {self.against}: {self.worth_text()}"
        if self.lowest is not UNSET and self.highest is not UNSET:
            low, high = as_number(self.lowest), as_number(self.highest)
            yield f"  other optimal strategies: payoff {low:.5f} to {high:.5f} (to 1e-5)"
        loss, bound = as_number(self.loss), as_number(self.loss_bound)
        worth = certified(loss, bound)
        if loss <= bound:
            worth = Printed("nothing", rounded_up(loss + bound))
        yield (
            f"  {self.policy} loses {worth.number} to an expert (mean of both seats, against the "
            f"value of the game; {worth.sure}{self.counts})"
        )


class HiddenResponse(InPayoffs, frozen=True, kw_only=True, tag="rollwise/respond/hidden/1"):
    """The best response of each seat to a policy."""

    policy: str
    first: Annotated[Value, about("payoff of the best response that moves first")]
    second: Annotated[Value, about("payoff of the best response that moves second")]
    exploitability: Annotated[Number, about("their mean: 0 for an optimal policy")]
    error_bound: Bound

    def blocks(self) -> Iterator[str | Rows]:
        yield self.title
        for seat in ("first", "second"):
            worth = certified(getattr(self, seat), self.error_bound)
            yield f"  the best response to {self.policy}, moving {seat}: {worth.number}"
        worth = certified(self.exploitability, self.error_bound)
        sure = f"{worth.sure}{self.counts}"
        yield f"  exploitability of {self.policy} (their mean): {worth.number} ({sure})"


class HiddenMatch(Worth, frozen=True, kw_only=True, tag="rollwise/simulate/hidden/1"):
    """Simulated games."""

    policy: str
    against: str
    games: int
    seed: int
    standard_error: Annotated[Number, about("null: a single game, or equal payoffs")]
    expected: Annotated[Value, about("the exact expectation of the same policies")]
    endless: Annotated[
        Maybe[int], about("games that these policies never end; they count as draws")
    ] = UNSET

    def blocks(self) -> Iterator[str | Rows]:
        mean, error = as_number(self.value), as_number(self.standard_error)
        if not self.is_stake:
            text = f"wins {estimated_chance(win_probability(mean), error / 2)}"
        elif self.games > 1 and math.isnan(error):
            text = f"gets on average {estimated(mean, 0.0).number} ({ALIKE})"
        else:
            text = f"gets on average {estimated(mean, error)}"
        yield self.title
        yield f"  {self.policy} first, against {self.against}: {text}"
        yield f"  {how_many(self.games, 'game')}, seed {self.seed}; estimated (± standard error)"
        if self.endless:
            yield f"  {how_many(self.endless, 'game')} would never end: endless play is a draw"
        written = certified if self.is_stake else chance
        expected = written(self.expected, as_number(self.error_bound))
        yield f"  expected: {expected.number} ({expected.sure}{self.about_draws})"


class HiddenLearned(GameDocument, frozen=True, kw_only=True, tag="rollwise/learn/hidden/1"):
    """Strategies learned by self-play."""

    method: str
    games: int
    seed: int
    checkpoints: list[LearnedPoint]

    def blocks(self) -> Iterator[str | Rows]:
        yield (
            f"{self.title}: {how_many(self.games, 'game')} learned by {self.method} "
            f"(seed {self.seed})"
        )
        cells = [
            (f"{one.games:,}", *(_number(x) for x in (one.low, one.high, one.exploitability)))
            for one in self.checkpoints
        ]
        heads = ("games", "first gets at least", "second allows at most", "exploitability")
        yield Rows(heads, cells, indent=2)
        yield (
            "each is proved by the best responses to the average strategies of all games; the "
            "exploitability is the gain of both responses together"
        )


class HiddenPlayed(GameDocument, frozen=True, kw_only=True, tag="rollwise/play/hidden/1"):
    """A game that a person played."""

    against: str
    seat: Annotated[str, about("of the person: first or second")]
    payoff: Annotated[Value, about("of the person; null in a game that was left")]
    lost: Annotated[Cost, about("by choices, against the optimal strategy; null if unknown")]
    seed: int
    stake: Annotated[Number, about("the largest payoff or reward of the rules")]

    def blocks(self) -> Iterator[str | Rows]:
        if self.payoff is None:
            yield f"the game is left unfinished (seed {self.seed})"
            return
        payoff = self.payoff
        result = "you win" if payoff > 0 else "you lose" if payoff < 0 else "a draw"
        yield f"{result}: payoff {payoff:+g} (seed {self.seed})"
        if self.lost is not None:
            cost = cost_text(self.lost, as_number(self.stake))
            yield f"your choices cost {cost} against the optimal strategy"


def worth_facts(answer: Answer) -> dict[str, Any]:
    """The value of an answer, and its precision."""
    return {
        "kind": kind_of(answer),
        **unit_facts(answer),
        "value": answer.value,
        "error_bound": answer.error_bound,
        "value_exact": str(answer.low) if answer.is_exact else None,
        "exploitability": exploitability_of(answer),
        "positions": len(answer.positions.states),
    }


def unit_facts(answer: Answer) -> dict[str, Any]:
    """The unit of values, and whether games can be drawn."""
    return {"unit": unit_of(answer), "draws": has_draws(answer)}


def has_draws(answer: Answer) -> bool:
    """Whether a play can end with 0, or endless play is a draw."""
    positions = answer.positions
    ends_level = (positions.targets < 0) & (positions.payoffs == 0)
    return answer.game.endless == "draw" or bool(ends_level.any())


def unit_of(answer: Answer) -> str:
    """Whether values are chances to win."""
    points = {float(p) for p in answer.positions.payoffs} | {0.0}
    plain = points <= {-1.0, 0.0, 1.0} and not any(answer.positions.rewards)
    return "win probability" if plain else "payoff"


def kind_of(answer: Answer) -> str:
    """Exact or certified."""
    return "exact" if answer.is_exact else "certified"


def exploitability_of(answer: Answer) -> float:
    """The proved bound on the gain of both players together, rounded up."""
    return 0.0 if answer.is_exact else 2 * answer.error_bound


def rows_of(answer: Answer, situations: Sequence[Situation]) -> list[SituationRow]:
    """Situations as rows, with ranges over all optimal strategies where this takes seconds."""
    are_short = _are_short(answer, situations)
    return [situation_row(answer, one, are_short) for one in situations]


def table_of(answer: Answer, total: int, situations: Sequence[Situation]) -> HiddenTable:
    """The document of `table`."""
    rows = rows_of(answer, situations)
    is_known = _are_short(answer, situations)
    return HiddenTable.on(
        answer.game,
        kind=kind_of(answer),
        exploitability=exploitability_of(answer),
        total=total,
        rows=rows,
        unique=not any(row.ranges for row in rows) if is_known else None,
    )


def _are_short(answer: Answer, situations: Sequence[Situation]) -> bool:
    """Whether ranges take seconds."""
    work = answer.work_of_ranges * sum(len(one.names) for one in situations)
    return 0 < work <= MOST_RANGES


def solved_document(answer: Answer) -> HiddenSolved:
    """The document of `solve`."""
    is_hidden, rounds = answer.positions.is_hidden, len(answer.positions.rounds)
    return HiddenSolved.on(
        answer.game,
        **worth_facts(answer),
        method=answer.method,
        iterations=answer.iterations or None,
        histories=answer.n_histories if is_hidden else None,
        situations=answer.n_situations if is_hidden else None,
        rounds=rounds if rounds > 1 else None,
        memory=peak_memory(),
        kept_from=answer.kept_from or None,
        seconds=answer.seconds,
    )


def answer_blocks(answer: Answer) -> list[str | Rows]:
    """The answer and the first situations of both strategies, as lines and tables."""
    shown = list(islice(answer.situations(), REPORTED))
    table = table_of(answer, answer.n_situations, shown)
    return [*solved_document(answer).blocks(), *table.blocks()]
