"""Conditions on the rows of a table, written in the names of its columns.

``lid >= 3 and forced == 0`` has the syntax of a Python expression, limited to
comparisons, arithmetic, ``and or not in`` and parentheses. It is never run as Python.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise.errors import ExpressionError, suggestion
from rollwise.faults import too_deep
from rollwise.graph.layout import FALSE_TRUE, member_word
from rollwise.graph.naming import SetWords, set_number
from rollwise.graph.typed import no_member

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from rollwise.graph.layout import Members
    from rollwise.graph.naming import Vocabulary

LONGEST = 2000
# A column of a tuple has a name that isn't one to Python, ``board.0``: meanwhile it gets another.
DOTTED, DOT = re.compile(r"\b[^\W\d]\w*\.\d+"), "__dot__"

TRUE_OR_FALSE = {"true": True, "false": False}  # as they are typed in states

ARITHMETIC: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARISONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def parse_filter(
    text: str, columns: Iterable[str], vocabulary: Vocabulary | None = None
) -> pl.Expr:
    """Read a condition as a Polars expression.

    Parameters
    ----------
    text : str
    columns : iterable of str
        The names that may occur; a mapping to dtypes also checks that words are
        compared with words.
    vocabulary : Vocabulary, optional
        The names of the actions in the column ``action``. With it a number may be
        compared with actions that have numbers for names, and an unknown action is
        refused.

    Raises
    ------
    ExpressionError
        Names the faulty part.
    """
    import polars as pl

    names = list(columns)
    if len(text) > LONGEST:
        raise ExpressionError(f"the condition is longer than {LONGEST} characters")
    try:
        tree = _parsed(text)
    except NOT_PARSED as error:
        reason = error.msg if isinstance(error, SyntaxError) else "too deeply nested"
        number = "error_bound" if "error_bound" in names else names[-1]
        raise ExpressionError(
            f"the condition {text!r} can't be read: {reason} (write it like "
            f'"{names[0]} >= 3 and {number} < 0.5"; equality is ==)'
        ) from None
    if too_deep(tree):
        raise ExpressionError(f"the condition {text!r} is too deeply nested")
    types = dict(columns.items()) if hasattr(columns, "items") else {}
    tree = _Named(names).visit(tree)
    reader = _Reader(names, types, vocabulary)
    expression = reader.condition(tree)
    assert isinstance(expression, pl.Expr)
    return expression


def numbered(text: str, members: Members) -> str:
    """A condition with numbers in place of sets and of the members of enumerations.

    ``phase == GO`` and ``phase in ["go", "stop"]`` name members of the field `phase`, and
    ``open == {1 4 9}`` compares with a set of members. A field that is true or false is a
    condition.

    Parameters
    ----------
    members : mapping
        See `rollwise.graph.layout.members_of`.

    Raises
    ------
    ExpressionError
        A word in quotes is no member.
    """
    try:
        tree = _parsed(text)
    except NOT_PARSED:
        return text  # `parse_filter` names the fault
    if too_deep(tree):
        return text
    reader = _Numbered(members)
    tree = reader.truth(reader.visit(tree))
    return ast.unparse(tree).replace(DOT, ".") if reader.found else text


# A text in quotes, or a set in braces.
_SETS = re.compile(r"""'[^']*'|"[^"]*"|\{[^{}]*\}""")


def _set_in_python(found: re.Match[str]) -> str:
    """A set of members as Python writes it: ``{1, 4, 9}``; other texts as they are."""
    text = found[0]
    if text[0] != "{" or re.search(r"[^\w\s,]", text[1:-1]) or not text[1:-1].strip():
        return text
    parts = [" ".join(part.split()) for part in text[1:-1].split(",")]
    # `_Numbered` takes a text of several members apart, and knows names of several words
    return f"{{{', '.join(repr(part) if ' ' in part else part for part in parts)}}}"


class _Numbered(ast.NodeTransformer):
    """Puts numbers in place of sets, and of members that are compared with their field."""

    def __init__(self, members: Members) -> None:
        self.members, self.found = members, False
        self.words = {
            field: words for field, words in members.items() if not isinstance(words, SetWords)
        }

    def truth(self, node: ast.expr) -> ast.expr:
        """A condition: a field that is true or false, compared with 0."""
        if isinstance(node, ast.Name) and self.words.get(node.id.replace(DOT, ".")) == FALSE_TRUE:
            self.found = True
            return ast.Compare(node, [ast.NotEq()], [ast.Constant(0)])
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.BoolOp:
        return ast.BoolOp(node.op, [self.truth(self.visit(part)) for part in node.values])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.UnaryOp:
        of = self.visit(node.operand)
        return ast.UnaryOp(node.op, self.truth(of) if isinstance(node.op, ast.Not) else of)

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        parts = [node.left, *node.comparators]
        # each part is compared with both of its neighbours
        for k, part in enumerate(parts):
            if not isinstance(part, ast.Name):
                continue
            field = part.id.replace(DOT, ".")
            for beside in {k - 1, k + 1} & set(range(len(parts))):
                is_listed = isinstance(node.ops[min(k, beside)], ast.In | ast.NotIn)
                if not is_listed:
                    parts[beside] = self.of_set(field, parts[beside])
                elif isinstance(listed := parts[beside], ast.List | ast.Tuple | ast.Set):
                    inside = [self.of_set(field, one) for one in listed.elts]
                    parts[beside] = ast.List(inside, ast.Load())
                if field in self.words:
                    parts[beside] = self.number(field, parts[beside])
        return ast.Compare(parts[0], node.ops, parts[1:])

    def of_set(self, field: str, node: ast.expr) -> ast.expr:
        """The number of a set in braces, or the node as it is."""
        if not isinstance(node, ast.Set) and not (isinstance(node, ast.Dict) and not node.keys):
            return node
        parts = [ast.unparse(one) for one in getattr(node, "elts", ())]
        text = ",".join(part.strip("'\"") for part in parts)
        words = self.members.get(field)
        number = words.number(text) if isinstance(words, SetWords) else set_number(text)
        if number is None:
            raise ExpressionError(f"{{{text}}} isn't a set of members of {field}, as in {{1 4 9}}")
        self.found = True
        return ast.Constant(number)

    def number(self, field: str, node: ast.expr) -> ast.expr:
        """The number of a member, or the node as it is."""
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return ast.List([self.number(field, one) for one in node.elts], ast.Load())
        words = self.words[field]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            word = node.value
        elif isinstance(node, ast.Name) and node.id not in self.members:
            word = node.id
        else:
            return node
        if member_word(word) in words:
            self.found = True
            return ast.Constant(words[member_word(word)])
        if isinstance(node, ast.Constant):
            raise ExpressionError(no_member(field, word, words))
        return node


def mentions(text: str, column: str) -> bool:
    """Whether a column may stand in a condition."""
    return re.search(rf"\b{re.escape(column)}\b", text) is not None


def said_of(text: str, columns: Iterable[str]) -> str | None:
    """The parts of a condition about some columns alone, where ``and`` joins its parts.

    None without such parts. A condition that can't be read stays as it is.
    """
    try:
        tree = _parsed(text)
    except NOT_PARSED:
        return text
    joined = isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And)
    parts = tree.values if joined else [tree]  # type: ignore[attr-defined]
    names = {*map(_undotted, columns), *TRUE_OR_FALSE}
    alone = [
        part
        for part in parts
        if {node.id for node in ast.walk(part) if isinstance(node, ast.Name)} <= names
    ]
    condition = " and ".join(f"({ast.unparse(part)})" for part in alone)
    return condition.replace(DOT, ".") or None


NOT_PARSED = (SyntaxError, ValueError, RecursionError, MemoryError)


def _parsed(text: str) -> ast.expr:
    """The syntax tree of a condition; it raises one of `NOT_PARSED` if there is none."""
    return ast.parse(_undotted(_SETS.sub(_set_in_python, text)).strip(), mode="eval").body


def _undotted(text: str) -> str:
    """The columns of tuples under names that Python knows."""
    return DOTTED.sub(lambda found: found[0].replace(".", DOT), text)


def rows_where(
    frame: pl.DataFrame, text: str, vocabulary: Vocabulary | None = None
) -> NDArray[np.bool_]:
    """Whether a condition holds for each row of a frame; see `parse_filter`.

    Raises
    ------
    ExpressionError
        It can't be understood, or worked out.
    """
    import polars as pl

    condition = parse_filter(text, frame.schema, vocabulary)
    try:
        kept = frame.select(condition.alias("kept"))["kept"].fill_null(False).to_numpy()
    except pl.exceptions.PolarsError as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ExpressionError(f"the condition {text!r} can't be worked out: {reason}") from error
    return np.broadcast_to(kept, len(frame))


class _Named(ast.NodeTransformer):
    """Gives the columns of tuples, ``board.0``, their names back, and reads true and false."""

    def __init__(self, columns: list[str]) -> None:
        self.columns = columns

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in TRUE_OR_FALSE and node.id not in self.columns:
            return ast.Constant(TRUE_OR_FALSE[node.id])
        return ast.Name(node.id.replace(DOT, "."), node.ctx)


class _Reader:
    def __init__(
        self, columns: list[str], types: dict[str, Any], vocabulary: Vocabulary | None
    ) -> None:
        self.columns = columns
        self.types = types
        self.vocabulary = vocabulary

    def condition(self, node: ast.expr) -> Any:
        """A node that is true or false."""
        import polars as pl

        if isinstance(node, ast.BoolOp):
            parts = [self.condition(value) for value in node.values]
            combine = operator.and_ if isinstance(node.op, ast.And) else operator.or_
            result = parts[0]
            for part in parts[1:]:
                result = combine(result, part)
            return result
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~self.condition(node.operand)
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return pl.lit(node.value)
        if isinstance(node, ast.Compare):
            result = None
            # a < b < c is a < b and b < c
            left = node.left
            for op, right in zip(node.ops, node.comparators, strict=True):
                part = self.comparison(left, op, right)
                result = part if result is None else result & part
                left = right
            return result
        raise ExpressionError(
            f"{ast.unparse(node)!r} is no condition; compare something, as in "
            f'"{self.columns[0]} >= 3"'
        )

    def comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Any:
        import polars as pl

        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(right, ast.List | ast.Tuple | ast.Set):
                raise ExpressionError(f'`in` needs a list, as in "{self.columns[0]} in [1, 2]"')
            # `in` is a chain of comparisons, so that names of actions work there too
            result = pl.lit(False)
            for item in right.elts:
                result = result | self.comparison(left, ast.Eq(), item)
            return ~result if isinstance(op, ast.NotIn) else result
        compare = COMPARISONS.get(type(op))
        if compare is None:
            raise ExpressionError("only == != < <= > >= and `in` compare")
        # the column of actions may be on either side
        for action, other in ((left, right), (right, left)):
            if isinstance(action, ast.Name) and action.id == "action":
                result = self.with_action(op, other, flipped=action is right)
                if result is not None:
                    return result
        sides = self.number(left), self.number(right)
        if self.is_word(left) != self.is_word(right):
            raise ExpressionError(
                f"{ast.unparse(left)} and {ast.unparse(right)} can't be compared: one is a "
                "word, the other a number"
            )
        result = compare(*sides)
        return result if isinstance(result, pl.Expr) else pl.lit(bool(result))

    def with_action(self, op: ast.cmpop, other: ast.expr, *, flipped: bool) -> Any:
        """The actions compared with a number; None where `other` is none.

        Raises
        ------
        ExpressionError
            No action has this name.
        """
        import polars as pl

        value = other.value if isinstance(other, ast.Constant) else None
        if self.vocabulary is None or isinstance(value, bool) or not isinstance(value, int | str):
            return None
        texts = self.vocabulary.all_texts
        are_numbers = all(text.isdecimal() for text in texts)
        if str(value) not in texts and not (isinstance(value, int) and are_numbers):
            raise ExpressionError(self.vocabulary.unknown(str(value)))
        if isinstance(value, str):
            return None
        action: pl.Expr = pl.col("action")
        if isinstance(op, ast.Eq | ast.NotEq):
            return COMPARISONS[type(op)](action, pl.lit(str(value)))
        number = action.cast(pl.Int64, strict=False)
        return COMPARISONS[type(op)](*((value, number) if flipped else (number, value)))

    def is_word(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str)
        if isinstance(node, ast.Name) and node.id in self.types:
            return str(self.types[node.id]) == "String"
        return False

    def number(self, node: ast.expr) -> Any:
        """A node that is a number or a word."""
        import polars as pl

        if isinstance(node, ast.Constant):
            if isinstance(node.value, int | float | str):
                if isinstance(node.value, int) and node.value >= 1 << 63:
                    raise ExpressionError("the condition has a number of more than 64 bits")
                return pl.lit(int(node.value) if isinstance(node.value, bool) else node.value)
        elif isinstance(node, ast.Name):
            if node.id in self.columns:
                # sums and products of fields may have more than their 32 bits
                is_whole = str(self.types.get(node.id)).startswith(("Int", "UInt"))
                return pl.col(node.id).cast(pl.Int64) if is_whole else pl.col(node.id)
            hint = suggestion(node.id, self.columns)
            raise ExpressionError(
                f"there is no column {node.id!r}{hint} (columns: {', '.join(self.columns)}; "
                "a word goes in quotes)"
            )
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            if self.is_word(node.operand):
                raise ExpressionError(f"{ast.unparse(node)!r} calculates with a word")
            value = self.number(node.operand)
            return -value if isinstance(node.op, ast.USub) else value
        elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            if self.is_word(node.left) or self.is_word(node.right):
                raise ExpressionError(f"{ast.unparse(node)!r} calculates with a word")
            return ARITHMETIC[type(node.op)](self.number(node.left), self.number(node.right))
        raise ExpressionError(
            f"{ast.unparse(node)!r} isn't known in a condition; it may hold columns, numbers, "
            "words in quotes, + - * / // %, comparisons, and, or, not, in"
        )
