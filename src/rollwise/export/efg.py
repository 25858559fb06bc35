"""Games with hidden dice or simultaneous choices in Gambit's format, which OpenSpiel reads.

The tree of all plays is written depth first. Of a simultaneous choice the mover's node comes first,
and the other player doesn't see its action. Payoffs are those of both players.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from rollwise.errors import EndlessPlay, TooManyStates
from rollwise.hidden.positions import DEAL, TOGETHER, Positions
from rollwise.hidden.tree import COUNT, check_ends

MOST = 1_000_000  # nodes
DEEPEST = 500


def efg(positions: Positions) -> str:
    """The text of a game tree.

    Raises
    ------
    EndlessPlay, TooManyStates
        Play can go on for ever, or the tree is too large.
    """
    check_ends(positions, "a file has the tree of all plays, and each must end", COUNT)
    lines = [f'EFG 2 R "{positions.title}" {{ "first" "second" }}', '""']
    return "\n".join([*lines, *_Tree(positions).below(0, 0, (None, None), 0, 0)]) + "\n"


def _text(number: Any) -> str:
    """A number as Gambit reads it: 0.25, -3 or 1/3."""
    return repr(float(number)) if isinstance(number, float) else str(Fraction(number))


class _Tree:
    def __init__(self, positions: Positions) -> None:
        self.positions = positions
        self.sets: tuple[dict[Any, int], ...] = ({}, {})
        self.ends: dict[Any, int] = {}
        self.nodes = 0
        self.shares = positions.chances(positions.is_exact)

    def _set(self, seat: int, key: Any) -> int:
        return self.sets[seat].setdefault(key, len(self.sets[seat]) + 1)

    def below(
        self, place: int, mover: int, past: tuple[Any, Any], paid: Any, depth: int
    ) -> Iterator[str]:
        """The lines of a position and everything after it.

        Parameters
        ----------
        past : pair
            The earlier information sets and actions of each player, as nested tuples.
        paid : number
            Rewards of the first player so far.
        """
        positions = self.positions
        self.nodes += 1
        if self.nodes > MOST:
            raise TooManyStates(f"{positions.title} has more than {MOST:,} nodes for a file")
        if depth > DEEPEST:
            raise EndlessPlay(
                f"{positions.title}: play has no end within {DEEPEST} moves, and a file has a tree"
            )
        kind, menu = positions.kinds[place], positions.menus[place]
        choices = positions.choices(place)
        if kind == DEAL:
            yield from self.after(choices[0], mover, past, paid, depth)
            return
        history = place if not positions.is_hidden else int(positions.sights[place])
        own = self._set(mover, (past[mover], history))
        yield self._node(mover, own, place, menu[0])
        for i in range(len(menu[0])):
            known = _with(past, mover, (own, i))
            if kind != TOGETHER:
                yield from self.after(choices[i], mover, known, paid, depth)
                continue
            # the other player's set doesn't have the mover's action, which is unseen
            theirs = self._set(1 - mover, (past[1 - mover], (place, 1)))
            yield self._node(1 - mover, theirs, place, menu[1])
            for j in range(len(menu[1])):
                both = _with(known, 1 - mover, (theirs, j))
                # afterwards each player knows both actions
                both = ((*both, i, j), (*both, i, j))
                yield from self.after(choices[i * len(menu[1]) + j], mover, both, paid, depth)

    def _node(self, seat: int, number: int, place: int, menu: tuple[int, ...]) -> str:
        names = " ".join(f'"{self.positions.action_name(a, place)}"' for a in menu)
        return f'p "" {seat + 1} {number} "" {{ {names} }} 0'

    def after(
        self, choice: int, mover: int, past: tuple[Any, Any], paid: Any, depth: int
    ) -> Iterator[str]:
        """The lines after a choice: the node of chance, where there is one, and its branches."""
        positions, sign = self.positions, 1 - 2 * mover
        paid = paid + sign * positions.rewards[choice]
        first, end = positions.first_outcome[choice : choice + 2].tolist()
        if end - first > 1:
            named = " ".join(f'"{k - first}" {_text(self.shares[k])}' for k in range(first, end))
            yield f'c "" {choice + 1} "" {{ {named} }} 0'
        for k in range(first, end):
            target = int(positions.targets[k])
            if target >= 0:
                turn = mover ^ int(positions.turns[k])
                yield from self.below(target, turn, past, paid, depth + 1)
            else:
                worth = paid + sign * positions.payoffs[k]
                # endings with one payoff are one outcome of the file
                number = self.ends.setdefault(worth, len(self.ends) + 1)
                yield f't "" {number} "" {{ {_text(worth)}, {_text(-worth)} }}'


def _with(past: tuple[Any, Any], seat: int, step: Any) -> tuple[Any, Any]:
    """The pasts with one more information set and action of a player."""
    mine = (past[seat], step)
    return (mine, past[1]) if seat == 0 else (past[0], mine)
