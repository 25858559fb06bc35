"""The findings of `check`: their report, and signs of unintended rules.

At a PASS the next state is written for the next player, with the players' own fields exchanged.
If the rules forget the exchange, the mover's fields stay his own for ever, and the rival's never
change.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.records import Finding, Level
from rollwise.builders.compiled.sources import definition_of
from rollwise.builders.rules import Rules, as_progress
from rollwise.errors import RulesError
from rollwise.game import Game
from rollwise.graph import KEEP, THROW, StateGraph
from rollwise.graph.choices import fold_actions, outcome_action
from rollwise.graph.naming import acting, listed
from rollwise.hooks import HOOKS
from rollwise.numbers.printed import how_many
from rollwise.parameters import parameter_specs
from rollwise.reach import functions_reached, names_in

# Names of the other player's fields; the values alone don't show the owner.
RIVALS = re.compile(
    r"(^|_)(rivals?|opp|opponents?|others?|foes?|enem(y|ies)|theirs?|them|you|yours?)(_|\d|$)"
)
EXCHANGE = (
    "after a PASS the next state is written as the next player sees it: exchange the fields of "
    "the two players"
)
TURNED = "after a PASS the next state is written as the next player sees it: see `turned`"
NOBODY_PASSES = (
    "only the first player moves, since no outcome passes the turn: end the turn with PASS, or "
    "write players = 1"
)
MOSTLY, HARDLY_EVER = 0.5, 0.1
ALIKE = 0.85  # likeness of a misspelled name, as difflib counts it
MOST_ASKED = 200_000  # states checked for progress, or for policies


@dataclass
class Report:
    """All findings about a game."""

    game: str
    findings: list[Finding] = field(default_factory=list)

    def add(self, level: Level, topic: str, text: str) -> None:
        self.findings.append(Finding(level, topic, text))

    def add_if(self, level: Level, topic: str, text: str) -> None:
        """Add a finding, if there is a text."""
        if text:
            self.add(level, topic, text)

    def __str__(self) -> str:
        return "\n".join(f"{f.level:>7}  {f.topic}: {f.text}" for f in self.findings)

    def _repr_html_(self) -> str:
        """The notebook view: a line for each finding."""
        return str(HOOKS.html(self))

    @property
    def passed(self) -> bool:
        """Whether there is no error."""
        return all(finding.level != "error" for finding in self.findings)


@dataclass(frozen=True, eq=False)
class Steps:
    """The outcomes after which play goes on, as pairs of states.

    Attributes
    ----------
    names : sequence of str
        Of the fields; the parts of a tuple are ``name.0`` and so on.
    fields : (n, n_fields) int
        All states.
    before, after : (n_steps, n_fields) int
    passes : (n_steps,) bool
        Whether the state after it is written for another player.
    """

    game: Game | None
    players: int
    names: Sequence[str]
    fields: NDArray[Any]
    before: NDArray[Any]
    after: NDArray[Any]
    passes: NDArray[np.bool_]

    @classmethod
    def of_graph(
        cls, graph: StateGraph, game: Game | None, border: NDArray[np.int32] | None = None
    ) -> Steps:
        """The steps of a graph.

        Parameters
        ----------
        border : (n_border, n_fields) int32, optional
            The states of the border, if there is one.
        """
        action = outcome_action(graph)
        fields = graph.fields if border is None else np.concatenate([graph.fields, border])
        inside = np.flatnonzero((graph.outcome_state >= 0) & (graph.outcome_state < len(fields)))
        return cls(
            game,
            graph.players,
            graph.field_names,
            fields,
            fields[graph.action_state[action[inside]]],
            fields[graph.outcome_state[inside]],
            graph.outcome_passes[inside],
        )


def oddities(steps: Steps) -> list[str]:
    """Fields that are surely unintended, each in a line with a remedy.

    Of the smallest game, of one life each, a field may rightly have one value.
    """
    fields, before, after, passes = steps.fields, steps.before, steps.after, steps.passes
    if not len(before) or len(fields) < 2:
        return []
    fixed = (fields == fields[0]).all(axis=0)
    passed = bool(passes.any())
    findings = []
    exchange = EXCHANGE if steps.players == 2 else TURNED
    least = _least_sizes(steps.game)
    # a tuple is needed where one of its parts changes
    whole = [name.partition(".")[0] for name in steps.names]
    changing = {name for name, is_fixed in zip(whole, fixed, strict=True) if not is_fixed}
    for number in np.flatnonzero(fixed).tolist() if not fixed.all() else ():  # a state needs one
        name, value = steps.names[number], int(fields[0, number])
        if whole[number] in changing or value in least:
            continue
        remedy = f"leave it out, or, if it is a player's: {exchange}" if passed else "leave it out"
        findings.append(f"the field {name} is {value} in every state; {remedy}")
    if passed and not _seat(steps):
        for number, name in enumerate(steps.names):
            rivals = not fixed[number] and RIVALS.search(name) is not None
            if rivals and _stays(before[passes], after[passes], number):
                findings.append(f"a PASS leaves the field {name} where it is; {exchange}")
    return findings


def _least_sizes(game: Game | None) -> set[Any]:
    """The parameters of a game that have their least value."""
    if game is None:
        return set()
    values = game.parameters
    return {
        spec.at_least
        for spec in parameter_specs(type(game))
        if spec.type is int and spec.at_least == values.get(spec.name)
    }


def nobody_passes(graph: StateGraph) -> str:
    """Rules for several players without a turn of the second, with a remedy; empty if it moves."""
    goes_on = (graph.outcome_state >= 0).any()
    if graph.n_border or graph.players == 1 or not goes_on or graph.outcome_passes.any():
        return ""
    return NOBODY_PASSES


def nothing_at_stake(graph: StateGraph) -> str:
    """The reason for an equal value of all plays, with a remedy; empty if plays differ."""
    lotteries = graph.lotteries
    if graph.n_border or graph.players > 2 or lotteries.reward.any():
        return ""
    if graph.objective != "win":
        return (
            "no action brings a point, and every play is worth 0: give the points with "
            "reward(s, action), which the rules lack or in which they say 0"
        )
    ends = np.unique(lotteries.payoff[lotteries.over])
    return of_one_ending(ends, graph.players)


def of_one_ending(ends: NDArray[np.float64], players: int) -> str:
    """The reason for an equal value of all plays: they have one payoff; empty with several.

    Of two players each may be the one who is paid, so that only draws are alike.
    """
    if len(ends) != 1 or (players == 2 and ends[0]):
        return ""
    ending = {1.0: "won", 0.0: "drawn", -1.0: "lost"}.get(float(ends[0]), f"worth {ends[0]:g}")
    return f"every play that ends is {ending}, whatever is done: no outcome ends it otherwise"


def reading_discount(game: Game) -> str:
    """A function that reads the discount of a game, for `outcomes`; empty if there is none."""
    if game.applied_discount == 1:
        return ""
    reached = functions_reached([type(game).outcomes], type(game))
    readers = [f.__name__ for f in reached if "discount" in names_in(f.__code__)]
    if not readers:
        return ""
    return (
        f"{readers[0]}() reads the discount: rollwise applies it to the outcomes, and rules that "
        "multiply weights by it too apply it twice"
    )


def unnamed(graph: StateGraph) -> str:
    """The actions without a name in a game with names; empty if there are none."""
    vocabulary = graph.vocabulary

    def of_rules(label: int) -> bool:
        return label != THROW and not (graph.has_pool and label >= KEEP)

    without = [k for k in vocabulary.labels if of_rules(k) and k not in vocabulary.names]
    if not without or not any(map(of_rules, vocabulary.names)):
        return ""
    kind = "actions" if len(without) > 1 else "action"
    verb = "have" if len(without) > 1 else "has"
    return (
        f"the {kind} {listed([str(k) for k in without])} {verb} no name; action_names begins with "
        "the name of action 0, or is a dictionary"
    )


def of_one_name(graph: StateGraph) -> list[str]:
    """The names that several actions of one state have."""
    names, found = graph.vocabulary.names, []
    called: dict[str, list[int]] = {}
    for label in graph.vocabulary.labels:
        if label in names:
            called.setdefault(names[label], []).append(label)
    for name, labels in called.items():
        if len(labels) == 1:
            continue
        counts = fold_actions(graph, np.add, np.isin(graph.action_label, labels).astype(np.int64))
        if (several := np.flatnonzero(counts > 1)).size:
            found.append(
                f"the actions {listed([str(label) for label in labels])} have one name, {name!r}, "
                f"also in the state {graph.state_text(int(several[0]))}, where their numbers tell "
                "them apart; give each a name of its own in action_names"
            )
    return found


def _own_parts(game: Game) -> dict[str, Any]:
    """The parts of a rule sheet that users wrote, by name."""
    kinds = type(game).__mro__[: type(game).__mro__.index(Game)]
    own = [vars(kind) for kind in kinds if not kind.__module__.startswith("rollwise.")]
    return {name: part for parts in reversed(own) for name, part in parts.items()}


def misspelled(game: Game) -> list[str]:
    """Parts of a rule sheet without effect: misspelled, or for games of another kind.

    Their names are nearly words of the language. Each is told in a line with the word. Names that a
    function of the rule sheet reads are helpers.
    """
    own = {
        name: part
        for name, part in _own_parts(game).items()
        if not name.startswith("_") and not hasattr(part, "__rollwise_policy__")
    }
    reached = functions_reached(own.values(), type(game))
    read = set[str]().union(*(names_in(function.__code__) for function in reached))
    words = [name for name in dir(Game) if not name.startswith("_")]
    findings = []
    for name in sorted(own.keys() - read - set(words)):
        if close := difflib.get_close_matches(name.lower(), words, 1, ALIKE):
            findings.append(f"no rule reads {name}; did you mean {close[0]}?")
    return findings + _never_called(game)


def loops_once(game: Game) -> list[str]:
    """Loops of a rule sheet that end in their first round, each in a line.

    The last statement of such a loop is a ``return`` or ``break``, and no ``continue`` is before
    it. A ``return`` meant to follow a loop over faces ends it after the first one.
    """
    own = _own_parts(game)
    findings = []
    for function in functions_reached(own.values(), type(game)):
        for loop in ast.walk(definition_of(function) or ast.Pass()):
            last = loop.body[-1] if isinstance(loop, ast.For) else None
            if not isinstance(last, ast.Return | ast.Break) or _goes_round(loop):
                continue
            assert isinstance(loop, ast.For)
            word = "return" if isinstance(last, ast.Return) else "break"
            findings.append(
                f"{function.__name__}() gives the first {ast.unparse(loop.target)} of its loop "
                f"alone (line {loop.lineno}), as the {word} at its end is within the loop: indent "
                "it less if it is meant for afterwards"
            )
    return sorted(findings)


def _goes_round(loop: ast.AST) -> bool:
    """Whether a ``continue`` may begin another round of a loop."""
    return any(isinstance(node, ast.Continue) for node in ast.walk(loop))


def _never_called(game: Game) -> list[str]:
    """Methods of a rule sheet without effect in games of its kind, each in a line."""
    kind, needs = type(game), dict[str, str]()
    if not game.has_throws:
        needs = dict.fromkeys(("throw_text", "throw_cells", "kept_features"), "games with throws")
    # a property or a parameter may allow averages
    fixed = isinstance(kind.objective, str) and "objective" not in game.parameters
    if fixed and game.objective != "average":
        needs["duration"] = 'objective = "average"'
    return [
        f"{name}() is never called: it is for {what}"
        for name, what in needs.items()
        if getattr(kind, name) is not getattr(Game, name)
    ]


def look_at_progress(
    report: Report, game: Game, graph: StateGraph, border: NDArray[np.int32] | None = None
) -> None:
    """Check that no outcome lowers the game's progress.

    Parameters
    ----------
    border : (n_border, n_fields) int32, optional
        The states of the border, where the graph is a part of the game.
    """
    rules = Rules(game, any_players=True)
    if not rules.has_progress:
        return
    if len(graph.states) > MOST_ASKED:
        report.add("note", "progress", "too many states to look at; solving by layers does")
        return
    rows = graph.states if border is None else np.concatenate([graph.states, border])
    states = map(rules.layout.state, rows.tolist())
    try:
        progress = np.array([rules.progress(state) for state in states], np.int64)
    except RulesError as error:
        report.add("error", "progress", str(error))
        return
    n = len(graph.states)  # throws don't belong to the progress
    # a throw has the progress of its position
    reached = np.concatenate([progress[:n], progress[graph.thrown_from], progress[n:]])
    action = outcome_action(graph)
    inside = np.flatnonzero(graph.outcome_state >= 0)
    source = graph.action_state[action[inside]]
    lower = reached[graph.outcome_state[inside]] < reached[source]
    falls = inside[lower.any(axis=1) if lower.ndim > 1 else lower]
    if len(falls):
        a = int(action[falls[0]])
        s, t = int(graph.action_state[a]), int(graph.outcome_state[falls[0]])
        report.add(
            "error",
            "progress",
            f"it falls from {as_progress(reached[s])} to {as_progress(reached[t])} in the state "
            f"{graph.state_text(s)} with {acting(graph.view.action(a).name)}; "
            f"{rules.no_outcome_lowers}",
        )
    else:
        layers = len(np.unique(reached, axis=0))
        where = "" if border is None else ", where it was looked at"
        report.add("ok", "progress", f"no outcome lowers it{where} ({how_many(layers, 'layer')})")


def _seat(steps: Steps) -> bool:
    """Whether a field identifies the mover; then the other fields need no exchange.

    Such a field has two values, and changes whenever the turn passes, and only then. A field that
    tells bids from answers also changes where the mover stays.
    """
    two = np.array([len(np.unique(column)) == 2 for column in steps.fields.T])
    changes = steps.before != steps.after
    return bool((two & (changes == steps.passes[:, None]).all(axis=0)).any())


def _stays(before: NDArray[np.int32], after: NDArray[np.int32], field: int) -> bool:
    """Whether a field stays at a PASS, and goes to no other field, where the values differ."""
    others = np.delete(np.arange(before.shape[1]), field)
    mine = before[:, field]
    differs = (before[:, others] != mine[:, None]).all(axis=1)
    if not differs.any():
        return False
    goes = (after[differs][:, others] == mine[differs][:, None]).mean(axis=0)
    stays = (after[differs, field] == mine[differs]).mean()
    return bool(stays > MOSTLY and goes.max(initial=0.0) < HARDLY_EVER)


def look_for_oddities(report: Report, steps: Steps, *, in_part: bool = False) -> None:
    """Add the oddities of the fields, of a whole game or of the positions looked at."""
    odd = oddities(steps)
    for text in odd:
        if in_part:
            report.add("note", "fields", f"in the positions looked at, {text}")
        else:
            report.add("warning", "fields", text)
    differ = (steps.fields != steps.fields[0]).any()
    if not odd and (differ or in_part):
        report.add("ok", "fields", "every field takes more than one value")
    elif not odd:
        report.add("ok", "fields", "there is one position; a state needs a field all the same")


def look_at_names(report: Report, game: Game) -> None:
    """Add the findings about the text of a rule sheet to a report."""
    for fault in misspelled(game):
        report.add("warning", "names", fault)
    for fault in loops_once(game):
        report.add("warning", "loops", fault)
