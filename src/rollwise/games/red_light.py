"""Red Light: draw lights from a bag, and hold before a red one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, PASS, WIN, Game, parameter, policy

DRAW, HOLD = range(2)


class Turn(NamedTuple):
    banked: int  # the mover's points in the bank
    rival: int  # the other player's
    turn: int  # points at risk this turn
    green: int  # lights in the bag
    red: int


@dataclass(frozen=True)
class RedLight(Game):
    """Draw lights from a bag: a green one is a point, a red one loses the turn's points.

    Drawn lights stay outside the bag until the last red one is drawn. Then all go back. A turn
    has at least one draw. The first player with `target` points wins, without a need to hold.
    The second player begins with `komi` points. A player who never holds and so keeps the game
    going loses it.
    """

    presets: ClassVar = {"short": {"target": 10}, "classic": {"target": 50}}
    target: int = parameter(20, at_least=1, at_most=30_000, about="points that win")
    greens: int = parameter(24, at_least=1, at_most=100, about="green lights")
    reds: int = parameter(4, at_least=1, at_most=20, about="red lights")
    komi: int = parameter(1, at_least=0, at_most=30_000, about="points of the second player")
    endless: ClassVar = "lose"
    action_names: ClassVar = ("draw", "hold")

    def start(self) -> Turn:
        return Turn(0, self.komi, 0, self.greens, self.reds)

    def actions(self, s: Turn) -> Iterator[int]:
        yield DRAW
        if s.turn > 0:
            yield HOLD

    def outcomes(self, s: Turn, action: int) -> Iterator[tuple[int, int, Turn]]:
        if action == HOLD:
            yield 1, PASS, Turn(s.rival, s.banked + s.turn, 0, s.green, s.red)
        else:
            if s.red == 1:
                yield 1, PASS, Turn(s.rival, s.banked, 0, self.greens, self.reds)
            else:
                yield s.red, PASS, Turn(s.rival, s.banked, 0, s.green, s.red - 1)
            if s.green > 0:
                then = WIN if s.banked + s.turn + 1 >= self.target else AGAIN
                yield s.green, then, Turn(s.banked, s.rival, s.turn + 1, s.green - 1, s.red)

    def progress(self, s: Turn) -> int:
        return s.banked + s.rival

    def describe(self, s: Turn) -> str:
        points = f"{s.banked} in the bank and {s.turn} at risk; the opponent has {s.rival}"
        return f"{points}; in the bag {s.green} green, {s.red} red"

    def cells(self, s: Turn) -> boards.Board:
        return [
            [boards.seat(), boards.bar(s.banked, s.turn, of=self.target)],
            [boards.seat(1), boards.bar(s.rival, of=self.target, theirs=True)],
            [boards.label("green"), boards.pile(s.green)],
            [boards.label("red"), boards.pile(s.red)],
        ]

    def deed(self, s: Turn, action: int) -> str:
        return self.action_names[action]

    def told(self, s: Turn, action: int, then: int, after: Turn) -> str:
        if action == HOLD:
            return f"{s.banked + s.turn} to {s.rival}"
        if then == AGAIN:
            return f"green; {after.turn} at risk"
        if then == WIN:
            return f"green; {s.banked + s.turn + 1} to {s.rival}"
        lost = "the turn's points are lost" if s.turn else "nothing gained"
        text = f"red; {lost}; {s.banked} to {s.rival}"
        return f"{text}; all lights go back into the bag" if s.red == 1 else text

    def features(self, s: Turn) -> dict[str, int]:
        return {"loses": s.red * s.turn - s.green}  # a draw loses more than it brings

    @policy
    def hold_when_a_draw_costs(self, s: Turn) -> int:
        """Hold as soon as a draw loses more points than it brings, on average."""
        return HOLD if s.turn > 0 and s.red * s.turn >= s.green else DRAW
