"""The forms that a search for rules of thumb looks at: those that people can work out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

import numpy as np

from rollwise.thumb.language import Column, Feature, Form, form_of

MOST_FORMS = 1500
# By how many features there are: the largest sums, and what a feature may be counted times.
SUMS = ((4, 3), (16, 2))
MOST_PRODUCT = 1600  # of two features: beyond 40 × 40 nobody multiplies at the table
WEIGHTS = (1, 2, 3, 5, 8, 12)
TIMES = ((4, (2, 3, 4, 5, 6, 7, 8, 9, 10, 12)), (8, (2, 3, 4, 6, 8)))


def forms_of(columns: Mapping[str, Column]) -> list[Form]:
    """Fields, sums and differences, the larger, the smaller and the product of two, weighted sums.

    Parameters
    ----------
    columns : mapping of (n,) int32
        The fields of the states with a choice. Those that never change are left out.
    """
    names = [name for name, values in columns.items() if len(values) and np.ptp(values)]
    found = dict.fromkeys(_forms(names, columns))
    return list(found)[:MOST_FORMS]


def preferred_forms(columns: Mapping[str, Column]) -> list[Form]:
    """What an action may be preferred for: a feature of actions, or the lack of it."""
    return [_form({Feature(name): sign}) for name in columns for sign in (1, -1)]


def changed_forms(form: Form, columns: Mapping[str, Column]) -> Iterator[Form]:
    """Forms of features of actions with one more feature, or one number a little changed."""
    terms = {feature: number for number, feature in form.terms}
    for feature, number in terms.items():
        for other in (number - 1, number + 1):
            if 0 < abs(other) <= WEIGHTS[-1] and len(terms) > 1:
                yield _form({**terms, feature: other})
    for name in columns:
        added = Feature(name)
        if added not in terms:
            for weight in WEIGHTS:
                for sign in (1, -1):
                    yield _form({**terms, added: sign * weight})
                    if len(terms) == 1 and weight > 1:
                        yield _form({**{f: weight * n for f, n in terms.items()}, added: sign})


def _forms(names: Sequence[str], columns: Mapping[str, Column]) -> Iterator[Form]:
    fields = [Feature(name) for name in names]
    most = next((size for limit, size in SUMS if len(fields) <= limit), 1)
    for field in fields:
        yield _form({field: 1})
    sums = [_form(signed) for size in range(2, most + 1) for signed in _signed(fields, size)]
    yield from sums
    if most > 1:
        for first, second in combinations(names, 2):
            yield _form({Feature(first, second, "max"): 1})
            yield _form({Feature(first, second, "min"): 1})
        yield from _products(names, columns)
    if 1 < len(fields) <= SUMS[-1][0]:
        yield _form(dict.fromkeys(fields, 1))
    times = next((numbers for limit, numbers in TIMES if len(fields) <= limit), ())
    shares = [signed for size in range(1, most) for signed in _signed(fields, size)]
    for number in times:
        for lead in fields:
            for signed in shares:
                if lead not in signed:
                    yield _form({lead: number, **signed})
                    yield _form({lead: number, **{f: -one for f, one in signed.items()}})


def _products(names: Sequence[str], columns: Mapping[str, Column]) -> Iterator[Form]:
    """Products of two that people can work out, also with one added to a factor, or taken away."""
    for first, second in combinations(names, 2):
        if _size(columns[first]) * _size(columns[second]) > MOST_PRODUCT:
            continue
        for one, other in product((0, 1, -1), repeat=2):
            terms = {Feature(first): one, Feature(second): other}
            yield _form(
                {Feature(first, second, "product"): 1} | {f: n for f, n in terms.items() if n}
            )


def _size(values: Column) -> int:
    return int(np.abs(values).max())


def _signed(fields: Sequence[Feature], size: int) -> Iterator[dict[Feature, int]]:
    """Sums of so many fields with any signs, the first one's being plus."""
    for chosen in combinations(fields, size):
        for signs in range(1 << (size - 1)):
            yield {
                field: 1 if place == 0 or not signs >> (place - 1) & 1 else -1
                for place, field in enumerate(chosen)
            }


def _form(terms: Mapping[Feature, int]) -> Form:
    return form_of(terms)[0]
