"""Results about games, kept in memory as long as their rules and parameters stay the same.

Two games can be equal for Python and differ: in an attribute that is no field of a dataclass, or in
a global variable that was changed in between. So results stand under a key of all values that the
rules read (`rollwise.builders.compiled.cache_key`).
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from rollwise.builders.compiled.cache_key import key_of
from rollwise.builders.compiled.reads import graph_key, what_is_read
from rollwise.builders.rules import Rules
from rollwise.game import Game
from rollwise.machine.endless import is_endless

Result = TypeVar("Result")


def rules_key(game: Game, methods: tuple[str, ...] = ()) -> tuple[Any, ...] | None:
    """The key of the rules of a game as they are now; None if a change could go unnoticed.

    Parameters
    ----------
    methods : tuple of str
        Further methods of the class that matter.
    """
    kind, inner = type(game), game.made_from
    try:
        if inner is not game:
            before = rules_key(inner, methods)
            fields = [(f.name, getattr(game, f.name)) for f in dataclasses.fields(game)]
            key = key_of({}, [one for one in fields if one[1] is not inner])
            return (kind, key.text, before) if before and key.lasts else None
        own = key_of({}, vars(game), keeps=False)
        if not own.lasts:
            return None
        rules = Rules(game, any_players=True)
        more = what_is_read(rules, {name: getattr(kind, name) for name in methods}).whole_key
        key = graph_key(rules, more.text, own.text, rules.start)
    except Exception as error:  # of the rules: whoever needs them reports it
        if is_endless(error):
            raise
        return None
    return (kind, key.text) if key.lasts and more.lasts else None


def remembered(
    most: int, *methods: str
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Keep the last results of a function of a game, and of further arguments that can be hashed.

    Parameters
    ----------
    most : int
        The number of results.
    methods : str
        As in `rules_key`.
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        results: OrderedDict[Any, Result] = OrderedDict()

        @wraps(function)
        def found(game: Game, *more: Any) -> Result:
            key = rules_key(game, methods)
            if key is None:
                return function(game, *more)
            if (key, more) in results:
                results.move_to_end((key, more))
                return results[key, more]
            result = results[key, more] = function(game, *more)
            if len(results) > most:
                results.popitem(last=False)
            return result

        return found

    return decorate
