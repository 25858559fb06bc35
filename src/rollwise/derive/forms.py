"""Forms of a game, as typed: ``threes as=chase target=7``.

Of a solitaire game, ``as=chase`` plays for a score, ``as=contest`` lets two players take a whole
turn each, and ``as=score`` puts the points in the states. ``as=within`` wins within a number of
turns, and ``as=cube`` plays a game of two with a doubling cube. A form has parameters of its own,
beside those of the game. The title of the derived game names all of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from rollwise.derive.average import Average
from rollwise.derive.chase import Chase, WithScore
from rollwise.derive.contest import Duel
from rollwise.derive.cube import Cube
from rollwise.derive.derived_game import DerivedGame
from rollwise.derive.within import Within
from rollwise.errors import ParameterError, suggestion
from rollwise.game import Game, with_an_end
from rollwise.parameters import ParameterSpec, either, parameter_specs

BLIND = "blind"  # a contest where players see only their own score; only `solve` supports it
FORMS: dict[str, type[DerivedGame] | None] = {
    Chase.form: Chase,
    Duel.form: Duel,
    WithScore.form: WithScore,
    Average.form: Average,
    Cube.form: Cube,
    Within.form: Within,
    BLIND: None,
}


def split_form(
    kind: type[Game], values: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, Any]]:
    """The parameters of a game as text, and those of its form, parsed, by their own names.

    Of equal names the form's parameter is meant. If titles always name the game's parameter, the
    form's has the form as a prefix: ``chase_target=7``.

    Parameters
    ----------
    kind : type of Game
    values : mapping
        Parameters as typed, with ``as``.

    Raises
    ------
    ParameterError
        The form doesn't exist, or a value doesn't fit its parameter.
    """
    form = values["as"]
    if form not in FORMS:
        hint = suggestion(form, FORMS, "as=")
        raise ParameterError(f"{kind.name}: as={form} is no form; it is {either(FORMS)}{hint}")
    known = [spec.name for spec in parameter_specs(kind)]  # declares them, for `fields`
    titled = {f.name for f in dataclasses.fields(kind) if not f.metadata.get("variant")}
    made = FORMS[form]
    specs = () if made is None else made.form_specs
    own: dict[str, ParameterSpec] = {
        f"{form}_{spec.name}" if spec.name in titled else spec.name: spec for spec in specs
    }
    inner = {name: text for name, text in values.items() if name not in own and name != "as"}
    asked = {
        spec.name: spec.parse(kind.name, values[name])
        for name, spec in own.items()
        if name in values
    }
    unknown = sorted(inner.keys() - set(known))
    if unknown:
        names = (*known, *own)
        listed = f"its parameters: {', '.join(names)}" if names else "it has none"
        raise ParameterError(
            f"{kind.name} as={form} has no parameter {unknown[0]!r} ({listed})"
            f"{suggestion(unknown[0], names)}"
        )
    return inner, asked


def create_form(
    kind: type[Game],
    values: Mapping[str, str],
    create: Callable[[type[Game], Mapping[str, str]], Game],
) -> Game:
    """A game in the form given by ``as``.

    Parameters
    ----------
    create : callable
        `rollwise.games.create`, for the inner game.

    Raises
    ------
    ParameterError
        As `split_form`, or the form is no game with perfect information.
    """
    inner, asked = split_form(kind, values)
    made = FORMS[values["as"]]
    players = asked.pop("players", 2)
    if made is None or players != 2:
        what = "as=blind" if made is None else f"as=contest players={players}"
        raise ParameterError(
            f"{kind.name}: {what} is answered by `rollwise solve` alone; other questions are for "
            "as=chase, as=score, as=within and as=contest of two players"
        )
    return made(with_an_end(create(kind, inner)), **asked)
