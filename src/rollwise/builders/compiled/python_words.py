"""Python's words for numbers and tuples, for Numba to compile.

In compiled rules a list of whole numbers stands for a tuple whose length only the running rule
knows: ``tuple(...)`` gives such a list, and a NamedTuple makes it a tuple again
(`rollwise.builders.compiled.listers`).
"""

# ruff: noqa: C416, SIM110 (these loops define the functions that would replace them)

from __future__ import annotations

import math
import operator
from enum import IntFlag
from typing import Any

import numba
from numba import types
from numba.core import cgutils, typing
from numba.core.imputils import lower_builtin, lower_constant
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import (
    make_attribute_wrapper,
    models,
    overload,
    overload_method,
    register_model,
    typeof_impl,
)
from numba.typed import Dict

from rollwise.builders.compiled.arithmetic import RulesCompiler
from rollwise.builders.compiled.cache_key import payoffs_of_all, put, shared_by_parts, won_by_all
from rollwise.builders.compiled.disk import OPTIONS
from rollwise.builders.compiled.listers import (
    BY_KEY,
    COUNT,
    COUNTED,
    EXACT,
    FOR_ALL,
    LEAST,
    MEMBER,
    NO_COUNTS,
    PLACE,
    SLICED,
)
from rollwise.builders.compiled.reads import Rows, Table, made_of

SEQUENCES = (types.BaseTuple, types.List, types.Array)


class TableType(types.IterableType):  # type: ignore[misc]
    """The type of a `Table`; loops go through its names."""

    def __init__(self, names: Any, numbers: Any) -> None:
        self.parts = [("names", names), ("numbers", numbers)]
        super().__init__(f"Table({names}, {numbers})")

    @property
    def iterator_type(self) -> Any:
        return self.parts[0][1].iterator_type


class RowsType(types.IterableType):  # type: ignore[misc]
    """The type of `Rows`; a row is a list."""

    def __init__(self, items: Any, starts: Any) -> None:
        self.parts = [("items", items), ("starts", starts)]
        self.listed = types.List(types.List(items.dtype))
        super().__init__(f"Rows({items}, {starts})")

    @property
    def iterator_type(self) -> Any:
        return self.listed.iterator_type


class RecordModel(models.StructModel):  # type: ignore[misc]
    """A `Table`, or `Rows`, as a record."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.parts)


for kind, parts in ((TableType, ("names", "numbers")), (RowsType, ("items", "starts"))):
    register_model(kind)(RecordModel)
    for part in parts:
        make_attribute_wrapper(kind, part, part)


@typeof_impl.register(Table)
def _typeof_table(value: Any, context: Any) -> Any:
    return TableType(numba.typeof(value.names), numba.typeof(value.numbers))


@typeof_impl.register(Rows)
def _typeof_rows(value: Any, context: Any) -> Any:
    return RowsType(numba.typeof(value.items), numba.typeof(value.starts))


@lower_constant(TableType)
@lower_constant(RowsType)
def _constant(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    parts = [
        context.get_constant_generic(builder, part, getattr(value, name))
        for name, part in kind.parts
    ]
    return cgutils.pack_struct(builder, parts)


@lower_builtin("getiter", TableType)
def _names_of_table(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    (kind,) = signature.args
    names = cgutils.create_struct_proxy(kind)(context, builder, value=args[0]).names
    wanted = typing.signature(signature.return_type, kind.parts[0][1])
    return context.get_function("getiter", wanted)(builder, (names,))


@lower_builtin("getiter", RowsType)
def _rows_in_turn(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    (kind,) = signature.args
    called = typing.signature(kind.listed, kind)
    rows = context.compile_internal(builder, _all_rows, called, args)
    wanted = typing.signature(signature.return_type, kind.listed)
    iterator = context.get_function("getiter", wanted)(builder, (rows,))
    context.nrt.decref(builder, kind.listed, rows)  # the iterator has its own reference
    return iterator


def _all_rows(rows):  # type: ignore[no-untyped-def]
    return [rows[k] for k in range(len(rows.starts) - 1)]


@overload(operator.getitem)
def _row(rows, place):  # type: ignore[no-untyped-def]
    if isinstance(rows, RowsType):

        def found(rows, place):  # type: ignore[no-untyped-def]
            size = len(rows.starts) - 1
            k = place + size if place < 0 else place
            if not 0 <= k < size:
                raise IndexError("no such row")
            return [rows.items[i] for i in range(rows.starts[k], rows.starts[k + 1])]

        return found
    return None


@overload(operator.getitem)
def _table_item(table, name):  # type: ignore[no-untyped-def]
    if isinstance(table, TableType):

        def found(table, name):  # type: ignore[no-untyped-def]
            for k in range(len(table.names)):
                if table.names[k] == name:
                    return table.numbers[k]
            raise KeyError("no such key")

        return found
    return None


@overload(operator.contains)
def _table_has(table, name):  # type: ignore[no-untyped-def]
    if isinstance(table, TableType):
        return lambda table, name: name in table.names
    is_view = isinstance(table, types.DictKeysIterableType | types.DictValuesIterableType)
    if is_view or (isinstance(table, types.Array) and table.ndim == 1):

        def found(table, name):  # type: ignore[no-untyped-def]
            for number in table:
                if number == name:
                    return True
            return False

        return found
    return None


@overload(len)
def _table_size(table):  # type: ignore[no-untyped-def]
    if isinstance(table, RowsType):
        return lambda table: len(table.starts) - 1
    return (lambda table: len(table.names)) if isinstance(table, TableType) else None


@overload_method(TableType, "get")
def _table_get(table, name, default=0):  # type: ignore[no-untyped-def]
    def found(table, name, default=0):  # type: ignore[no-untyped-def]
        for k in range(len(table.names)):
            if table.names[k] == name:
                return table.numbers[k]
        return default

    return found


overload_method(TableType, "keys")(lambda table: lambda table: table.names)
overload_method(TableType, "values")(lambda table: lambda table: table.numbers)
overload_method(TableType, "items")(
    lambda table: (
        lambda table: [(table.names[k], table.numbers[k]) for k in range(len(table.names))]
    )
)


def stub(name: str, arguments: str) -> Any:
    """A function without a body of its own: overloads are compiled where it is called."""
    return made_of(f"def {name}({arguments}):\n    raise NotImplementedError\n")


@overload(any)
def _any(numbers):  # type: ignore[no-untyped-def]
    def found(numbers):  # type: ignore[no-untyped-def]
        for number in numbers:
            if number:
                return True
        return False

    return found


@overload(all)
def _all(numbers):  # type: ignore[no-untyped-def]
    def found(numbers):  # type: ignore[no-untyped-def]
        for number in numbers:
            if not number:
                return False
        return True

    return found


@overload(reversed)
def _reversed(numbers):  # type: ignore[no-untyped-def]
    if isinstance(numbers, types.RangeType):

        def backwards(numbers):  # type: ignore[no-untyped-def]
            last = numbers.start + (len(numbers) - 1) * numbers.step
            return range(last, numbers.start - numbers.step, -numbers.step)

        return backwards
    if isinstance(numbers, SEQUENCES):
        return lambda numbers: numbers[::-1]
    return None


@overload(tuple)
def _tuple(numbers):  # type: ignore[no-untyped-def]
    if isinstance(numbers, types.BaseTuple):
        return lambda numbers: numbers
    return lambda numbers: [number for number in numbers]


@overload(math.comb, jit_options={**OPTIONS, "pipeline_class": RulesCompiler})
def _comb(n, k):  # type: ignore[no-untyped-def]
    def ways(n, k):  # type: ignore[no-untyped-def]
        if n < 0 or k < 0:
            raise ValueError("comb() takes numbers from 0")
        found = 1
        for i in range(min(k, n - k)):
            # found * (n - i) / (i + 1), which is whole, by parts that don't overflow early
            found = found // (i + 1) * (n - i) + found % (i + 1) * (n - i) // (i + 1)
        return found if k <= n else 0

    return ways


@overload(math.prod, jit_options={**OPTIONS, "pipeline_class": RulesCompiler})
def _prod(numbers):  # type: ignore[no-untyped-def]
    def product(numbers):  # type: ignore[no-untyped-def]
        found = 1
        for number in numbers:
            found = found * number
        return found

    return product


@overload(math.factorial, jit_options={**OPTIONS, "pipeline_class": RulesCompiler})
def _factorial(n):  # type: ignore[no-untyped-def]
    def ways(n):  # type: ignore[no-untyped-def]
        if n < 0:
            raise ValueError("factorial() takes numbers from 0")
        found = 1
        for k in range(2, n + 1):
            found = found * k
        return found

    return ways


@overload(operator.getitem)
def _item_by_truth(numbers, place):  # type: ignore[no-untyped-def]
    if isinstance(numbers, types.UniTuple | types.List) and isinstance(place, types.Boolean):
        return lambda numbers, place: numbers[1 if place else 0]
    return None


@overload_method(types.Integer, "bit_count")
def _bit_count(number):  # type: ignore[no-untyped-def]
    def bits(number):  # type: ignore[no-untyped-def]
        left, found = abs(number), 0
        while left:
            # This clears the lowest bit.
            left &= left - 1
            found += 1
        return found

    return bits


@overload_method(types.BaseTuple, "count")
def _count(numbers, number):  # type: ignore[no-untyped-def]
    def found(numbers, number):  # type: ignore[no-untyped-def]
        times = 0
        for one in numbers:
            if one == number:
                times += 1
        return times

    return found


@overload(put)
def _put(numbers, place, number):  # type: ignore[no-untyped-def]
    if isinstance(numbers, types.List):

        def changed(numbers, place, number):  # type: ignore[no-untyped-def]
            after = numbers.copy()
            after[place] = number
            return after

        return changed
    if not numbers.count:  # `compiled_replaced` has raised an exception
        return lambda numbers, place, number: numbers
    return lambda numbers, place, number: tuple_setitem(numbers, place, number)


@overload(operator.add)
def _sum_of_tuples(one, other):  # type: ignore[no-untyped-def]
    kinds = {type(kind) for kind in (one, other)}
    if kinds == {types.List, types.UniTuple}:
        return lambda one, other: [x for x in one] + [x for x in other]
    return None


@overload(operator.eq)
def _equal_tuples(one, other):  # type: ignore[no-untyped-def]
    if {type(kind) for kind in (one, other)} == {types.List, types.UniTuple}:

        def equal(one, other):  # type: ignore[no-untyped-def]
            if len(one) != len(other):
                return False
            for k in range(len(one)):
                if one[k] != other[k]:
                    return False
            return True

        return equal
    return None


@overload(operator.ne)
def _different_tuples(one, other):  # type: ignore[no-untyped-def]
    if {type(kind) for kind in (one, other)} == {types.List, types.UniTuple}:
        return lambda one, other: not (one == other)  # noqa: SIM201 (this defines it)
    return None


_sliced = stub("_sliced", "numbers, first, last")


@overload(_sliced)
def _sliced_typed(numbers, first, last):  # type: ignore[no-untyped-def]
    absent = types.NoneType | types.Omitted
    none = isinstance(first, absent), isinstance(last, absent)
    if not isinstance(numbers, types.BaseTuple):
        return {
            (False, False): lambda numbers, first, last: numbers[first:last],
            (True, False): lambda numbers, first, last: numbers[:last],
            (False, True): lambda numbers, first, last: numbers[first:],
        }[none]
    size = len(numbers)
    begin, end = ("0" if none[0] else "first"), (str(size) if none[1] else "last")
    return made_of(
        "def part(numbers, first, last):\n"
        f"    begin, end = {begin}, {end}\n"
        f"    begin = max(begin + {size}, 0) if begin < 0 else begin\n"
        f"    end = end + {size} if end < 0 else min(end, {size})\n"
        "    return [numbers[k] for k in range(begin, end)]\n"
    )


_exact = stub("_exact", "numbers, places")


@overload(_exact)
def _exact_typed(numbers, places):  # type: ignore[no-untyped-def]
    """A list as a tuple of the same length as `places`; anything else as it is."""
    if not isinstance(numbers, types.List | types.Array):
        return lambda numbers, places: numbers
    parts = ", ".join(f"numbers[{k}]" for k in range(len(places)))
    return made_of(
        "def exact(numbers, places):\n"
        f"    if len(numbers) != {len(places)}:\n"
        "        raise ValueError('not as many numbers as places')\n"
        f"    return ({parts},)\n"
    )


STUBS = (_sliced, _exact)


def _best_by(sign: str) -> Any:
    """`max` or `min` with a key: the first item with the largest or smallest key."""
    return made_of(
        "def found(items, keys):\n"
        "    if len(items) != len(keys) or len(items) == 0:\n"
        "        raise ValueError('no items, or they can be read only once')\n"
        "    best = 0\n"
        "    for k in range(1, len(keys)):\n"
        f"        if keys[k] {sign} keys[best]:\n"
        "            best = k\n"
        "    return items[best]\n"
    )


def _sorted_by(items, keys, backwards):  # type: ignore[no-untyped-def]
    """`sorted` with a key: items with equal keys keep their order, also backwards."""
    if len(items) != len(keys):
        raise ValueError("the items can be read only once")
    places = [k for k in range(len(keys))]
    # insertion: each place moves to the left of those with larger (or smaller) keys
    for k in range(1, len(keys)):
        j = k
        while j > 0 and (
            keys[places[j - 1]] < keys[k] if backwards else keys[places[j - 1]] > keys[k]
        ):
            places[j] = places[j - 1]
            j -= 1
        places[j] = k
    return [items[k] for k in places]


def _place_in(numbers, number):  # type: ignore[no-untyped-def]
    """The method `index` of a constant."""
    for k in range(len(numbers)):
        if numbers[k] == number:
            return k
    raise ValueError("no such number")


def _no_counts():  # type: ignore[no-untyped-def]
    """An empty dictionary of whole numbers."""
    return Dict.empty(types.int64, types.int64)


def _counted(numbers):  # type: ignore[no-untyped-def]
    """A Counter of whole numbers."""
    found = Dict.empty(types.int64, types.int64)
    for number in numbers:
        found[number] = found[number] + 1 if number in found else 1
    return found


def _count_of(counts, number):  # type: ignore[no-untyped-def]
    """An item of a Counter."""
    return counts[number] if number in counts else 0  # noqa: SIM401 (`get` may give None)


def _member(kind: Any) -> Any:
    """The number of a member of an enumeration; of flags, also of several."""
    if issubclass(kind, IntFlag):
        test = f"0 <= number <= {sum(kind)}"
    else:
        test = f"number in {(*map(int, kind),)}"
    return made_of(
        f"def member(number):\n    if {test}:\n        return number\n"
        "    raise ValueError('no such member')\n"
    )


WORDS = {
    SLICED: _sliced,
    EXACT: _exact,
    COUNT: _count_of,
    COUNTED: _counted,
    NO_COUNTS: _no_counts,
    PLACE: _place_in,
    f"max{BY_KEY}": _best_by(">"),
    f"min{BY_KEY}": _best_by("<"),
    f"sorted{BY_KEY}": _sorted_by,
}


def _loops(kind: str, size: int) -> Any:
    """A generator of nested loops: the product of so many sequences, or selections of one."""
    names = [f"x{k}" for k in range(size)]
    if kind == "product":
        arguments = [f"numbers{k}" for k in range(size)]
        heads = [f"for x{k} in numbers{k}:" for k in range(size)]
        yielded = names
    else:
        arguments = ["numbers"]
        since = {"combinations": "{} + 1", "combinations_with_replacement": "{}"}.get(kind, "0")
        heads = ["for x0 in range(len(numbers)):"]
        for k in range(1, size):
            first = since.format(f"x{k - 1}")
            heads.append(f"for x{k} in range({first}, len(numbers)):")
        yielded = [f"numbers[{name}]" for name in names]
        if kind == "permutations" and size > 1:
            # All choices of places, without those that have a place twice.
            differ = [f"x{i} != x{k}" for k in range(size) for i in range(k)]
            heads.append(f"if {' and '.join(differ)}:")
    lines = [f"{'    ' * (k + 1)}{head}" for k, head in enumerate(heads)]
    lines.append(f"{'    ' * (len(heads) + 1)}yield {', '.join(yielded)},")
    return made_of(f"def loops({', '.join(arguments)}):\n" + "\n".join(lines))


def word(name: str, value: Any, state: Any, start: Any) -> Any:
    """A function that translated rules call, uncompiled.

    Parameters
    ----------
    name, value
        An item of `Translation.names`.
    state, start
        The type of the states, and the start.
    """
    if name in WORDS:
        return WORDS[name]
    if name.startswith(MEMBER):
        return _member(value)
    if name.endswith(FOR_ALL):
        kind = name.removesuffix(FOR_ALL)
        return {"payoffs": payoffs_of_all, "shared": shared_by_parts}.get(kind, won_by_all)
    if name.endswith(LEAST):
        fold = name.partition("_")[0]  # min, max or the first
        value = "numbers[0]" if fold == "first" else f"{fold}(numbers)"
        return made_of(
            f"def found(numbers, default):\n    return {value} if len(numbers) else default\n"
        )
    if isinstance(value, str):
        kind, _, size = name.rpartition("_")
        return _loops(kind, int(size))
    if isinstance(value, tuple):
        return _with_fields(value, state, start)
    return _made(value, start if value is state else None)


def _with_fields(fields: tuple[str, ...], state: Any, start: Any) -> Any:
    """A state with other values of some fields; no field begins with an underscore."""
    given = [_in_state(name, start) if name in fields else f"_s.{name}" for name in state._fields]
    source = f"def changed(_s, {', '.join(fields)}):\n    return _kind({', '.join(given)})\n"
    return made_of(source, _kind=state, _exact=_exact)


def _in_state(name: str, start: Any) -> str:
    """The source of a field's value: a list becomes a tuple of the length in `start`.

    A truth value becomes a number.
    """
    field = getattr(start, name, None)
    if isinstance(field, tuple):
        return f"_exact({name}, {(0,) * len(field)!r})" if field else name
    return name if field is None else f"{name} + 0"


def _made(kind: Any, start: Any) -> Any:
    """The constructor of a NamedTuple, with its defaults."""
    defaults = {f"_default_{name}": value for name, value in kind._field_defaults.items()}
    heads = [
        f"{name}=_default_{name}" if name in kind._field_defaults else name for name in kind._fields
    ]
    values = [_in_state(name, start) for name in kind._fields]
    source = f"def made({', '.join(heads)}):\n    return _kind({', '.join(values)})\n"
    return made_of(source, _kind=kind, _exact=_exact, **defaults)
