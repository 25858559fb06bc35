"""Rules of thumb in plain words, and as Python policies for a rule sheet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.layout import StateLayout
from rollwise.graph.naming import THROW, Words
from rollwise.thumb.features import Features, looks_at_throw
from rollwise.thumb.language import Clause, Condition, Feature, Form, Preference, Rule

SHARES = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
MOST_NAMED = 8  # actions in a list
OF_THE_GRAPH = ("again", "wins")  # features of actions without a word in rule sheets
Bools = NDArray[np.bool_]


def sentence_of(rule: Rule, graph: StateGraph, unit: Sequence[str] = ()) -> str:
    """A rule in words.

    Parameters
    ----------
    unit : (str, str), optional
        The unit of an action's number, see `rollwise.Game.action_unit`.

    Examples
    --------
    >>> from rollwise.builders import build
    >>> from rollwise.games.pig import Pig
    >>> graph = build(Pig(target=20))
    >>> rule = Rule.read({"rule": [{"if": "turn >= 10", "do": "hold"}, {"do": "roll"}]}, graph)
    >>> sentence_of(rule, graph)
    'Hold if turn is at least 10. Otherwise roll.'
    """
    sentences = []
    # clauses in a row with one deed are one sentence
    for deed, clauses in groupby(rule.clauses, key=attrgetter("deed")):
        text = _deed(deed, graph, unit)
        conditions = [clause.condition for clause in clauses]
        if None not in conditions:
            whens = (_when(condition, graph.words) for condition in filter(None, conditions))
            text += " if " + ", or if ".join(whens)
        sentences.append(text)
    if len(rule.clauses) == 1:
        return f"Always {sentences[0]}."
    sentences = [sentences[0], *(f"otherwise {text}" for text in sentences[1:])]
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in sentences)


def words_of(rules: Iterable[Rule], graph: StateGraph) -> dict[str, str]:
    """The features of actions in the sentences of rules that every game has, and their meanings."""
    deeds = {clause.deed for rule in rules for clause in rule.clauses}
    forms = {form for deed in deeds if isinstance(deed, Preference) for form in deed.forms}
    terms = [term for form in forms if not _by_name(form, graph) for term in form.terms]
    used = {name for _, feature in terms for name in (feature.first, feature.second)}
    last = max(graph.vocabulary.labels)
    text, number = graph.vocabulary.text(last), "that of the action"
    if not text.isdecimal():
        number += f", such as {last} for {text}"
    meanings = {
        "number": "that of the kept dice, or of the action" if graph.has_pool else number,
        "points": "those that the action brings",
        "again": "1 if the turn goes on, whatever falls",
        "wins": "1 if the action may win at once",
    }
    return {name: meaning for name, meaning in meanings.items() if name in used}


def _deed(action: int | Preference, graph: StateGraph, unit: Sequence[str]) -> str:
    if isinstance(action, Preference):
        texts = [_most(form, graph) for form in action.forms]
        if _by_name(action.forms[0], graph):  # no two actions have the same number
            return f"take {texts[0]}"
        return "take the action with " + ", then ".join(texts)
    text = graph.vocabulary.text(action)
    if not text.isdecimal():
        return text
    return f"choose {text} {unit[action != 1]}" if unit else f"choose {text}"


def _by_name(form: Form, graph: StateGraph) -> bool:
    """Whether a preferred form is the number of an action, and people know few actions by name."""
    names, labels = graph.vocabulary.names, _numbers(graph)
    few = len(labels) <= MOST_NAMED and names.keys() >= {*labels} and not graph.has_pool
    return few and len(form.terms) == 1 and form.terms[0][1].text == "number"


def _numbers(graph: StateGraph) -> list[int]:
    """The numbers of the actions that a player chooses: throwing is none."""
    return [label for label in graph.vocabulary.labels if label != THROW]


def _most(form: Form, graph: StateGraph) -> str:
    """The words for a preferred form."""
    if _by_name(form, graph):
        labels = sorted(_numbers(graph), reverse=form.terms[0][0] > 0)
        *others, last = map(graph.vocabulary.text, labels)
        return f"the first possible of {', '.join(others)} and {last}"
    if len(form.terms) == 1:
        number, feature = form.terms[0]
        several = feature.text.endswith("s")  # the most points, but the largest number
        words = ("most", "least") if several else ("largest", "smallest")
        return f"the {words[number < 0]} {feature.text}"
    return f"the most of {_sum(form)}"


def _when(condition: Condition, words: Words) -> str:
    """A condition in words."""
    form, bound = condition.form, condition.bound
    first, feature = form.terms[0]
    names = words.get(feature.text, {})
    if (
        len(form.terms) == 1 and isinstance(bound, int) and bound in names
    ):  # a member of an enumeration, or a truth value
        is_last = bound == (max(names) if condition.at_least else min(names))
        return f"{feature.text} {'is' if is_last else _beyond(condition)} {names[bound]}"
    if len(form.terms) == 1:
        return f"{_either(feature, condition.at_least)} {_beyond(condition)} {_number(bound)}"
    # "n * x >= bound" becomes "x is at least bound / n plus a share of the rest"
    if first > 1 and isinstance(bound, int) and bound % first == 0:
        rest = Form(tuple((-number, other) for number, other in form.terms[1:]))
        less = all(number < 0 for number, _ in rest.terms)  # 93 less half of banked
        if not less or bound:
            whole = f"{_number(bound // first)} {'less' if less else 'plus'} " if bound else ""
            if less:
                rest = Form(tuple((-number, other) for number, other in rest.terms))
            share = f"{whole}{_share(first)} of {_sum(rest, grouped=True)}"
            return f"{_name(feature)} {_beyond(condition)} {share}"
    plus = Form(tuple(term for term in form.terms if term[0] > 0))
    minus = Form(tuple((-number, other) for number, other in form.terms if number < 0))
    if not minus.terms or bound not in (0,):
        return f"{_sum(form)} {_beyond(condition)} {_number(bound)}"
    return f"{_sum(plus)} {_beyond(condition)} {_sum(minus)}"


def _number(bound: int | str) -> str:
    """A bound with a mathematical sign."""
    return str(bound).replace("-", "−") if isinstance(bound, int) else bound


def _share(number: int) -> str:
    """``half``, ``a third``, ``an eighth``, ``1/17``."""
    if number >= len(SHARES) + 2:
        return f"1/{number}"
    name = SHARES[number - 2]
    return name if number == 2 else f"{'an' if name[0] == 'e' else 'a'} {name}"


def _beyond(condition: Condition) -> str:
    return "is at least" if condition.at_least else "is at most"


def _either(feature: Feature, at_least: bool) -> str:
    """A feature as the subject of a sentence."""
    if not feature.pair or feature.is_product:
        return _name(feature)
    any_of = (feature.pair == "max") == at_least
    return (
        f"{feature.first} or {feature.second}"
        if any_of
        else f"each of {feature.first} and {feature.second}"
    )


def _name(feature: Feature) -> str:
    """A feature in mathematical signs."""
    return feature.written(times=" × ") if feature.is_product else feature.text


def _sum(form: Form, *, grouped: bool = False) -> str:
    """A form in mathematical signs, positive terms first."""
    terms = sorted(form.terms, key=lambda term: term[0] < 0)
    text = Form(tuple(terms)).written(_name, " × ", "−")
    return f"({text})" if grouped and len(terms) > 1 else text


def python_source(rule: Rule, graph: StateGraph, game: Game, text: str) -> str:
    """A rule of thumb as a method of its game's class.

    Parameters
    ----------
    rule : Rule
    graph : StateGraph
    game : Game
        The rules of the graph, as they are written.
    text : str
        The rule in words.

    Raises
    ------
    UsageError
        A policy in Python can't say it.

    Examples
    --------
    >>> from rollwise.builders import build
    >>> from rollwise.games.pig import Pig
    >>> game = Pig(target=20)
    >>> graph = build(game)
    >>> rule = Rule.read({"rule": [{"if": "turn >= 10", "do": "hold"}, {"do": "roll"}]}, graph)
    >>> print(*python_source(rule, graph, game, "Hold at 10.").splitlines()[3:], sep="\\n")
        if s.turn >= 10:
            return 1  # hold
        return 0  # roll
    """
    if game.made_from is not game:
        raise UsageError(
            f"{graph.title} has no rule sheet of its own, where a policy could stand: "
            "use --save FILE, and FILE as a policy"
        )
    if graph.has_pool:
        raise UsageError(
            f"{graph.game}: a policy of a game with a pool of dice says which dice are kept, and a "
            "rule of thumb doesn't: use --save FILE, and FILE as a policy"
        )
    return _Writer(rule, graph, game).source(text)


class _Writer:
    """Writes one rule."""

    def __init__(self, rule: Rule, graph: StateGraph, game: Game) -> None:
        self.rule, self.graph = rule, graph
        self.situation = "s, throw" if graph.throw_names else "s"
        self.of_features = self.situation if looks_at_throw(game) else "s"
        self.columns = Features(graph, game).states
        layout = StateLayout.of(game)
        self.paths = dict(zip(layout.columns, layout.paths, strict=True))
        self.own = set(self.columns) - set(graph.columns)

    def source(self, text: str) -> str:
        lines, reached = list[str](), np.ones(self.graph.n_states, bool)
        # `reached` has the states that no earlier clause decides: without any the rest is left out
        for clause in self.rule.clauses:
            lines += self._clause(clause, reached)
            if not reached.any():
                break
        if reached.any():
            lines.append("return next(iter(actions))")
        if any(re.search(r"\bactions\b", line) for line in lines):
            lines.insert(0, f"actions = list(self.actions({self.situation}))")
        head = ["@policy", f"def rule_of_thumb(self, {self.situation}):", f'    """{text}"""']
        return "\n".join([*head, *(f"    {line}" for line in lines)])

    def _clause(self, clause: Clause, reached: Bools) -> list[str]:
        """The lines of a clause; removes its states from those still reached."""
        graph = self.graph
        holds = reached.copy()
        conditions = list[str]()
        if clause.condition is not None:
            condition = clause.condition
            holds &= condition.holds(self.columns, graph.parameters)
            order = ">=" if condition.at_least else "<="
            bound = condition.bound
            bound_text = f"self.{bound}" if isinstance(bound, str) else str(bound)
            conditions.append(f"{self._form(condition.form, self._of_state)} {order} {bound_text}")
        if isinstance(clause.deed, Preference):
            keys = ", ".join(self._form(form, self._of_action) for form in clause.deed.forms)
            key = f"({keys})" if len(clause.deed.forms) > 1 else keys
            deed = f"return max(actions, key=lambda action: {key})"
        else:
            deed = f"return {clause.deed}  # {graph.vocabulary.text(clause.deed)}"
            there = np.zeros(graph.n_states, bool)
            there[graph.action_state[graph.action_label == clause.deed]] = True
            if np.any(holds & graph.thrown_in & ~there):
                conditions.append(f"{clause.deed} in actions")
            holds &= there
        reached &= ~holds & graph.thrown_in
        if not conditions:
            return [deed]
        return [f"if {' and '.join(conditions)}:", f"    {deed}"]

    def _form(self, form: Form, written: Callable[[str], str]) -> str:
        return form.written(lambda feature: feature.written(written, " * "), " * ")

    def _of_state(self, name: str) -> str:
        """A field, a number of the throw, or a feature from the rule sheet."""
        if name in self.own:
            return f'self.features({self.of_features})["{name}"]'
        if name == "throw" and name in self.graph.throw_names:
            return name
        if name in self.graph.throw_names:
            return f"throw[{name.rpartition('.')[2]}]"
        return f"s{self.paths[name]}"

    def _of_action(self, name: str) -> str:
        if name in OF_THE_GRAPH:
            raise UsageError(
                f"this rule of {self.graph.game} prefers actions by {name!r}, which its rule sheet "
                "doesn't say: use --save FILE, and FILE as a policy"
            )
        if name == "number":
            return "action"
        if name == "points":
            return f"self.reward({self.situation}, action)"
        return f'self.action_features({self.situation}, action)["{name}"]'
