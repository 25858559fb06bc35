"""Rules of thumb in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from rollwise.graph import StateGraph
from rollwise.thumb.language import Condition, Feature, Form, Preference, Rule

SHARES = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def sentence_of(rule: Rule, graph: StateGraph, unit: Sequence[str] = ()) -> str:
    """A rule in words.

    Parameters
    ----------
    unit : (str, str), optional
        What an action's number counts, see `rollwise.Game.action_unit`.

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
    for said, clauses in groupby(rule.clauses, key=attrgetter("deed")):
        deed = _deed(said, graph, unit)
        conditions = [clause.condition for clause in clauses]
        text = deed
        if None not in conditions:
            text += " if " + ", or if ".join(map(_when, filter(None, conditions)))
        sentences.append(text)
    if len(rule.clauses) == 1:
        return f"Always {sentences[0]}."
    sentences = [sentences[0], *(f"otherwise {text}" for text in sentences[1:])]
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in sentences)


def _deed(action: int | Preference, graph: StateGraph, unit: Sequence[str]) -> str:
    if isinstance(action, Preference):
        return "take the action with " + ", then ".join(map(_most, action.forms))
    text = graph.vocabulary.text(action)
    if not text.isdecimal():
        return text
    return f"choose {text} {unit[action != 1]}" if unit else f"choose {text}"


def _most(form: Form) -> str:
    """What an action is preferred for."""
    if len(form.terms) == 1:
        number, feature = form.terms[0]
        return f"the {'most' if number > 0 else 'least'} {feature.text}"
    return f"the most of {_sum(form)}"


def _when(condition: Condition) -> str:
    """A condition in words."""
    form, bound = condition.form, condition.bound
    first, feature = form.terms[0]
    if len(form.terms) == 1:
        return f"{_either(feature, condition.at_least)} {_beyond(condition)} {_number(bound)}"
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
    """A bound with the sign that people write."""
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
    """A feature as the subject of a sentence: one of two columns, or both, or one alone."""
    if not feature.pair or feature.is_product:
        return _name(feature)
    any_of = (feature.pair == "max") == at_least
    return (
        f"{feature.first} or {feature.second}"
        if any_of
        else f"each of {feature.first} and {feature.second}"
    )


def _name(feature: Feature) -> str:
    """A feature with the signs that people write."""
    return f"{feature.first} × {feature.second}" if feature.is_product else feature.text


def _sum(form: Form, *, grouped: bool = False) -> str:
    """A form with the signs that people write, what is added first."""
    terms = sorted(form.terms, key=lambda term: term[0] < 0)
    text = ""
    for number, feature in terms:
        factor = "" if abs(number) == 1 else f"{abs(number)} × "
        sign = (" − " if number < 0 else " + ") if text else ("−" if number < 0 else "")
        text += f"{sign}{factor}{_name(feature)}"
    return f"({text})" if grouped and len(terms) > 1 else text
