"""Functions of upper rooms that objects of lower rooms offer as methods.

``solution.plot()`` is a function of the room `plot`, and ``Threes().chase(7)`` a function of
`derive`. The front door (`rollwise/__init__.py`) fills these hooks before any game or answer
exists. The room of a hook is imported at the first call of the hook.
"""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Callable
from typing import Any


class Hooks:
    """The functions behind the methods.

    Attributes
    ----------
    plot, report, page : callable
        Methods of an answer, called with the answer and the arguments of the method.
    html : callable
        The notebook view of a game, an answer, advice, a result, or findings of `check`.
    text : callable
        Advice or a result in the words of the command line.
    chase, contest, with_score, within, average, cube : callable
        Methods of a game, called with the game and the arguments of the method.
    with_beliefs : callable
        Makes a solitaire game with hidden fields one of its player's beliefs.
    finite : callable
        Caps the fields of a game that rise without an end.
    create_form : callable
        Makes a game from its class and its parameters as text, including ``as``.
    """

    plot: Callable[..., Any]
    report: Callable[..., Any]
    page: Callable[..., Any]
    html: Callable[..., Any]
    text: Callable[..., Any]
    chase: Callable[..., Any]
    contest: Callable[..., Any]
    with_score: Callable[..., Any]
    within: Callable[..., Any]
    average: Callable[..., Any]
    with_beliefs: Callable[..., Any]
    finite: Callable[..., Any]
    cube: Callable[..., Any]
    create_form: Callable[..., Any]


HOOKS = Hooks()


class _Short(reprlib.Repr):
    """One short line: an array by its shape, the first three of many, and no long text."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist, self.maxtuple, self.maxdict = 3, 3, 1
        self.maxother = self.maxstring = 80

    def repr_instance(self, x: Any, level: int) -> str:
        return " ".join(super().repr_instance(x, level).split())

    def repr_ndarray(self, array: Any, level: int) -> str:
        return f"array{array.shape}"


SHORT = _Short()


class InWords:
    """A result that is printed in the words of the command line.

    Its representation is a short line. The dataclass of a result leaves it alone (``repr=False``).
    """

    def __repr__(self) -> str:
        shown = (one.name for one in dataclasses.fields(self) if one.repr)  # type: ignore[arg-type]
        parts = ", ".join(f"{name}={SHORT.repr(getattr(self, name))}" for name in shown)
        return f"{type(self).__name__}({parts})"

    def __str__(self) -> str:
        return str(HOOKS.text(self))

    def _repr_html_(self) -> str:
        """The notebook view: the same lines and tables."""
        return str(HOOKS.html(self))
