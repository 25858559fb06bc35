"""The answer of ``rollwise balance``: the figures of a game as a record, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from rollwise.analysis.lengths import FEW, turns_text
from rollwise.analysis.losses import loss_text, spread_words
from rollwise.analysis.records import ActionUse, LossSpread
from rollwise.documents.learned import Loss
from rollwise.documents.model import (
    UNSET,
    Bound,
    Chance,
    DeviationGain,
    EquallyGood,
    Figure,
    GameDocument,
    Maybe,
    Number,
    Part,
    Rows,
    UnsetType,
    about,
    as_number,
    unit,
)
from rollwise.documents.solved import Seats, Unit, seats_worth
from rollwise.graph.policies import ties_in_play
from rollwise.numbers.printed import POINTS, gain_text, how_many, percent, rounded_up

if TYPE_CHECKING:
    from rollwise.analysis.balance import Balance

MOST_NAMED = 12  # actions named in a line
Line = tuple[str, str]  # a figure: its name and its text
Counts = Annotated[list[float], unit("probability", "of the turns from 0")]
EndsOfMean = Annotated[tuple[float, float] | None, about("of the mean, over optimal policies")]


class GameLength(Part, frozen=True):
    """The distribution of lengths."""

    unit: Annotated[str, about("turns, rolls or moves")]
    quantiles: Annotated[dict[str, int | None], about("by percent")]
    chances: Annotated[list[float], unit("probability", "of the lengths from 0")]
    longer: Annotated[Chance, about("of a longer game")]
    turns: EndsOfMean
    moves: EndsOfMean

    @property
    def followed(self) -> int:
        """The number of followed turns."""
        return len(self.chances) - 1

    @property
    def is_cut(self) -> bool:
        """Whether longer games have more than a negligible share."""
        return as_number(self.longer) > FEW

    @property
    def text(self) -> str:
        """The middle length, and the range of nine games in ten."""
        low, middle, high = _ends(self.quantiles, self.followed)
        unit = self.unit if middle != "1" else self.unit[:-1]
        if max(self.chances) >= 1 - FEW:
            return f"always {middle} {unit}"
        if low == high:
            return f"{middle} {unit} in at least nine games in ten"
        return f"{middle} {unit} in the middle; {low} to {high} in at least nine games in ten"


def _ends(quantiles: dict[str, int | None], followed: int) -> Iterator[str]:
    return (turns_text(turn, followed) for turn in quantiles.values())


class DecisionFigures(Part, frozen=True):
    """Decisions in good play."""

    positions: Annotated[int, about("with a choice")]
    positions_that_matter: int
    in_a_game: Figure
    that_matter_in_a_game: Figure
    threshold: Annotated[float, unit("value", "a decision matters beyond this loss")]
    never_best: Annotated[list[str], about("actions")]
    options: list[ActionUse]

    def lines(self, *, is_score: bool) -> Iterator[Line]:
        """The number of choices, the number that matter, and useless actions."""
        if not self.positions:
            yield "decisions", "none"
            return
        scale, unit = (1, "points") if is_score else (50, POINTS)
        matter = self.positions_that_matter
        least = f"more than {scale * self.threshold:.4g} {unit}" if self.threshold else "something"
        yield (
            "decisions",
            f"{self.in_a_game.value:z.4f} in a game; {self.that_matter_in_a_game.value:z.4f} "
            f"matter: to choose at random costs {least}",
        )
        yield (
            "positions",
            f"{self.positions:,} with a choice, of which {matter:,} "
            f"({100 * matter / self.positions:.1f} %) matter",
        )
        dominated = [
            f"{one.name} (by {one.dominated_by})" for one in self.options if one.dominated_by
        ]
        chosen = {one.name for one in self.options if one.in_a_game}
        unused = [one.name for one in self.options if one.name not in chosen]
        for name, listed in (
            ("never best", self.never_best),
            ("dominated", dominated),
            ("never chosen", unused),
        ):
            if words := list(dict.fromkeys(listed)):  # several actions may have one name
                more = len(words) - MOST_NAMED
                rest = f", and {more:,} more" if more > 0 else ""
                yield name, ", ".join(words[:MOST_NAMED]) + rest


class DecidedTurn(Part, frozen=True):
    """The turn in which the winner is nearly certain."""

    mean_turn: Number
    quantiles: Annotated[dict[str, int | None], about("by percent")]
    chances: Counts
    later: Chance

    @property
    def text(self) -> str:
        """The turn on average, in the middle, and in nine games in ten."""
        followed, share = len(self.chances) - 1, as_number(self.later)
        cut = f" of those by turn {followed:,} ({100 * share:.2g} % of games are later)"
        low, middle, high = _ends(self.quantiles, followed)
        spread = f"turn {middle} in the middle; between turns {low} and {high}"
        spread = f"turn {middle}" if low == high else spread
        average = f"in turn {self.mean_turn:z.2f} on average{cut if share > FEW else ''}"
        return f"{average}; {spread} in at least nine games in ten"


class SkillFigures(Part, frozen=True):
    """Results of levels of skill against each other."""

    share: Figure
    levels: list[str]
    means: Annotated[
        list[list[float]],
        about("results of the first player: the row's level, where all others have the column's"),
    ]
    against_best: Annotated[
        list[float], about("result of each level among the best, on average over the seats")
    ]
    error_bound: Bound

    @property
    def is_known(self) -> bool:
        """Whether there is a share: with equal results of all games there is none."""
        return as_number(self.share.error_bound) < 1


class BalanceRule(Part, frozen=True):
    """A rule of thumb."""

    numbers: Annotated[int, about("integers in the rule")]
    loss: Loss
    spread: LossSpread | None
    error_bound: Bound
    text: str


class Balanced(GameDocument, frozen=True, kw_only=True, tag="rollwise/balance/1"):
    """Edge, luck, length, decisions, drama and skill of a game."""

    positions: int
    after_throws: Annotated[Maybe[int], about("situations after a throw")] = UNSET
    unit: Unit
    value: Figure
    win_probability: Chance
    win_probabilities: Seats = UNSET
    payoffs: Seats = UNSET
    deviation_gain: Maybe[DeviationGain] = UNSET
    luck: Annotated[
        Figure,
        about(
            "standard deviation of the first player's result: 1 or -1, or points; of three or "
            "more players a share of the win, or a payoff"
        ),
    ]
    edge: Annotated[Number, about("lead of the first player over the mean, in units of luck")]
    equally_good: EquallyGood | None
    turns: Figure
    moves: Figure
    length: GameLength
    decisions: DecisionFigures
    draws: Annotated[Figure | None, about("share of drawn games, or of shared wins")]
    lead_changes: Annotated[Figure | None, about("in a game")]
    comebacks: Annotated[Figure | None, about("share of games")]
    sure: Annotated[Chance, about("from which on a game counts as decided")]
    decided: DecidedTurn | None
    skill: SkillFigures | None
    rules: list[BalanceRule] | None
    words: Annotated[
        Maybe[dict[str, str]], about("features of actions in the rules, with meanings")
    ] = UNSET

    @property
    def is_score(self) -> bool:
        """Whether values are points."""
        return self.unit != "win probability"

    @property
    def has_opponents(self) -> bool:
        """Whether the game is for two players or more."""
        return self.length.unit == "turns"

    @property
    def size(self) -> str:
        """The number of positions, in words."""
        positions = how_many(self.positions, "position")
        after = f" and {self.after_throws:,} after a throw" if self.after_throws else ""
        return positions + after

    def blocks(self) -> Iterator[str | Rows]:
        yield f"{self.title}: {self.size}"
        yield Rows(
            ("", " "), [line for _, part in self.parts() for line in part], ("", " "), (" ",)
        )
        yield from self.notes
        for _, part in self.tables():
            yield ""
            yield from part

    def parts(self) -> list[tuple[str, Sequence[Line]]]:
        """The figures, under a heading each."""
        return [
            ("Who has the edge" if self.has_opponents else "What to expect", [*self._edge()]),
            ("How long it lasts", [*self._lengths()]),
            ("How it is fought out", [*self._drama()]),
            ("Decisions", [*self.decisions.lines(is_score=self.is_score)]),
            ("Luck and skill", [*self._skill()]),
            ("How hard it is to play well", [*self._rules()]),
        ]

    def tables(self) -> Iterator[tuple[str, Sequence[str | Rows]]]:
        """Further tables, under a heading each."""
        from rollwise.analysis.balance import most_taken

        options = self.decisions.options
        if options:
            taken = most_taken(options)
            rows = [
                (
                    one.name,
                    f"{one.offered:,}",
                    f"{100 * one.best / one.offered:.1f} %",
                    f"{100 * one.only_best / one.offered:.1f} %",
                    f"{one.in_a_game:z.4f}",
                )
                for one in taken
            ]
            more = len(options) - len(rows)
            notes = [f"and {how_many(more, 'more action')}, taken less often"] if more > 0 else []
            heads = (
                "action",
                "positions that offer it",
                "best",
                "better than all",
                "chosen in a game",
            )
            yield "The use of each action", [Rows(heads, rows, ("action",), heads), *notes]

    @property
    def notes(self) -> list[str]:
        """The kind of the figures, and of the play of three or more."""
        if isinstance(self.deviation_gain, UnsetType):
            return [self.certainty]
        gain = gain_text(as_number(self.deviation_gain), " by another policy")
        played = "All play an equilibrium, which need not be the only one: in every position, "
        return [f"{played}{gain} (proved).", self.certainty]

    @property
    def certainty(self) -> str:
        """The kind of the figures."""
        lasts, skill = self.length, self.skill
        figures = [self.value, self.luck, self.turns, self.moves, self.decisions.in_a_game]
        figures += [self.decisions.that_matter_in_a_game]
        figures += [one for one in (self.draws, self.lead_changes, self.comebacks) if one]
        figures += [skill.share] if skill and skill.is_known else []
        bounds = [one.error_bound for one in figures] + ([skill.error_bound] if skill else [])
        bounds += [rule.error_bound for rule in self.rules or ()]
        cut = (  # some games are longer than the followed turns
            f", for {lasts.followed:,} {lasts.unit}: {100 * as_number(lasts.longer):.2g} % of the "
            "games last longer, and the true frequency of an action may be larger"
        )
        worst = 100 * max(map(as_number, bounds))  # some figures are shown in hundredths
        return (
            f"Means and shares are certified (± {rounded_up(worst)} at most), and shown rounded. "
            "The distribution of turns and the frequencies of actions are followed in floating "
            f"point{cut if lasts.is_cut else ''}."
        )

    def _worth(self, result: float, gets: str, wins: str) -> str:
        """A result with its verb: points, or a win probability."""
        if self.is_score:
            return f"{gets}{result:z.4f}"
        from rollwise.graph import win_probability

        # of three or more players it is a share of the win
        return f"{wins}{percent(result if self.players else win_probability(result))}"

    def _edge(self) -> Iterator[Line]:
        value, luck = as_number(self.value.value), as_number(self.luck.value)
        several = self.win_probabilities or self.payoffs or []
        value = several[0] if several else value
        if not self.has_opponents:
            yield self.unit, self._worth(value, "", "")
            yield "luck", f"{luck:z.4f} (standard deviation)"
            return
        sign = "+" if value > 0 else ""
        gets = self._worth(value, f"gets {sign}", "wins ")
        has_luck, of = luck > as_number(self.luck.error_bound), "the result"
        edge = f"{self.edge:z.4f}"
        ahead = f"behind by {edge[1:]}" if edge.startswith("-") else f"ahead by {edge}"
        yield "first player", f"{gets}: {ahead} of the luck of a game" if has_luck else gets
        if several:
            of = (
                "the first player's payoff"
                if self.is_score
                else "the first player's share of a win"
            )
        for seat, result in enumerate(several[1:], 2):
            yield f"seat {seat}", self._worth(result, "gets ", "wins ")
        deviates = f"{luck:z.4f} (standard deviation of {of})"
        yield "luck", deviates if has_luck else "none: the dice have no effect"

    def _lengths(self) -> Iterator[Line]:
        for name in ("turns", "moves"):
            mean = getattr(self, name).value
            ends = getattr(self.length, name) or (mean, mean)
            if name != "turns" or self.has_opponents:
                yield name, " to ".join(dict.fromkeys(f"{end:z.4f}" for end in ends))
        yield "a game lasts", self.length.text
        if self.length.unit == "rolls":
            yield "", "a roll is a move with more than one outcome"
        if self.equally_good:
            yield "ties", self.equally_good.text.removeprefix("ties: ")

    def _drama(self) -> Iterator[Line]:
        if not (self.lead_changes and self.comebacks and self.draws):
            return
        sure = as_number(self.sure)
        yield "lead changes", f"{self.lead_changes.value:z.4f}"
        turn = "never: each game is drawn"
        if self.decided:
            turn = f"{self.decided.text}: then one player wins with {100 * sure:g} % or more"
        yield "decided", turn
        yield (
            "comebacks",
            f"{percent(as_number(self.comebacks.value))} of the games are won by a player with "
            f"{100 * (1 - sure):.3g} % or less at some time",
        )
        if self.draws.value:
            yield "shared wins" if self.players else "draws", percent(self.draws.value)

    def _skill(self) -> Iterator[Line]:
        skill = self.skill
        if skill is None:
            return
        drawn = "players are" if self.has_opponents else "player is"
        drawn = "level of one, and of all others, is" if self.players else drawn
        share = f"{100 * as_number(skill.share.value):z.2f} % of the variance of the result"
        if not skill.is_known:
            share = "no share: no variance of the result is proved"
        yield "skill", f"{share}, where the {drawn} drawn from: {', '.join(skill.levels)}"
        against = " among the best" if self.players else " against the best"
        against = f"{against}, on average over the seats" if self.has_opponents else ""
        for level, gets in zip(skill.levels[:-1], skill.against_best, strict=False):
            yield f"  {level}", self._worth(gets, "gets ", "wins ") + against

    def _rules(self) -> Iterator[Line]:
        scale, unit = (1, "points") if self.is_score else (100, POINTS)
        spreads = [rule.spread for rule in self.rules or ()]
        for k, (rule, spread) in enumerate(zip(self.rules or (), spreads, strict=True)):
            lost = f"{loss_text(as_number(rule.loss), spread, scale)} {unit} lost"
            integers = how_many(rule.numbers, "integer")
            yield "" if k else "rule of thumb", f"{integers}, {lost}: {rule.text}"
        for name, meaning in (self.words or {}).items():
            yield "", f"{name}: {meaning}"
        yield from (("", note) for note in spread_words(spreads))


def balance_document(balance: Balance) -> Balanced:
    """The figures of a game; each with its proved error bound, or none where it has none."""
    from rollwise.analysis.balance import QUANTILES
    from rollwise.analysis.second_aims import length_ranges
    from rollwise.thumb.sentences import words_of

    solution, chosen, drama = balance.solution, balance.decisions, balance.drama
    graph, lasts, profile = solution.graph, balance.lengths, solution.profile
    ranges = length_ranges(solution, ["turns", "moves"])
    ends = [None, None] if ranges is None else [(one.least, one.most) for one in ranges]

    def quantiles(of: Any) -> dict[str, int | None]:
        return {str(q): of.quantile(q / 100) for q in QUANTILES}

    decided = None
    if drama is not None and drama.decided is not None:
        turn = drama.decided
        decided = DecidedTurn(turn.mean, quantiles(turn), turn.chance.tolist(), turn.tail)
    found = balance.rules.rules if balance.rules else ()
    words = words_of((one.rule for one in found), graph)
    return Balanced.on(
        graph,
        balance,
        words=words or None,
        kind="certified",
        positions=graph.n_positions,
        after_throws=graph.n_states - graph.n_positions or None,
        win_probability=graph.view.win_probability(balance.value.value),
        **({} if profile is None else seats_worth(graph, balance.seats)),
        deviation_gain=UNSET if profile is None else profile.deviation_gain,
        equally_good=ties_in_play(graph, solution.policy),
        length=GameLength(lasts.unit, quantiles(lasts), lasts.chance.tolist(), lasts.tail, *ends),
        decisions=DecisionFigures.from_result(
            chosen,
            positions_that_matter=chosen.matter,
            that_matter_in_a_game=chosen.matter_in_a_game,
            never_best=list(chosen.never_best),
        ),
        draws=drama and drama.draws,
        lead_changes=drama and drama.lead_changes,
        comebacks=drama and drama.comebacks,
        decided=decided,
        rules=balance.rules and list(map(BalanceRule.from_result, balance.rules.rules)),
    )
