"""Zombie Dice for one: eat brains, and stop before the third shotgun."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise.game import AGAIN, END, Game, parameter, policy

THROW, GO_ON, STOP = range(3)
SHOTGUNS = 3  # that end a turn
AT_ONCE = 3  # dice that are thrown

# The dice of a kind, and on how many sides they have a brain, and a shotgun; two sides show feet.
GREEN, GREEN_BRAINS, GREEN_SHOTS = 6, 3, 1
YELLOW, YELLOW_BRAINS, YELLOW_SHOTS = 4, 2, 2
RED, RED_BRAINS, RED_SHOTS = 3, 1, 3
FEET = 2


class Turn(NamedTuple):
    eaten: int  # brains of the turns before
    brains: int  # brains of this turn
    drawn: int  # 1 where the dice in hand are about to be thrown
    green: int  # dice in hand, by colour; after a throw they show feet
    yellow: int
    red: int
    green_brains: int  # dice on the table that show a brain
    yellow_brains: int
    red_brains: int
    green_cup: int  # dice in the cup; all others show shotguns
    yellow_cup: int
    red_cup: int


Outcomes = Iterator[tuple[int, int, Turn]]


def new_turn(eaten: int) -> Turn:
    """The beginning of a turn: all dice are in the cup."""
    return Turn(eaten, 0, 0, 0, 0, 0, 0, 0, 0, GREEN, YELLOW, RED)


def shotguns(s: Turn) -> int:
    """How many dice show shotguns."""
    shown = s.green_brains + s.yellow_brains + s.red_brains + s.green + s.yellow + s.red
    return GREEN + YELLOW + RED - shown - s.green_cup - s.yellow_cup - s.red_cup


def choose(n: int, k: int) -> int:
    """In how many ways k of n dice can be taken."""
    ways = 1
    for i in range(k):
        ways = ways * (n - i) // (i + 1)
    return ways


def falls(n: int, brains: int, shots: int) -> Iterator[tuple[int, int, int]]:
    """Yield (ways, brains, feet) for n dice with so many sides of brains and of shotguns."""
    for eaten in range(n + 1):
        for feet in range(n - eaten + 1):
            shot = n - eaten - feet
            ways = choose(n, eaten) * choose(n - eaten, feet)
            yield ways * brains**eaten * FEET**feet * shots**shot, eaten, feet


def drawing(s: Turn) -> Iterator[tuple[int, Turn]]:
    """Draw dice until three are in hand."""
    green_brains, yellow_brains, red_brains = s.green_brains, s.yellow_brains, s.red_brains
    green_cup, yellow_cup, red_cup = s.green_cup, s.yellow_cup, s.red_cup
    need = AT_ONCE - s.green - s.yellow - s.red
    if green_cup + yellow_cup + red_cup < need:
        green_cup += green_brains
        yellow_cup += yellow_brains
        red_cup += red_brains
        green_brains, yellow_brains, red_brains = 0, 0, 0
    for green in range(need + 1):
        for yellow in range(need - green + 1):
            red = need - green - yellow
            ways = choose(green_cup, green) * choose(yellow_cup, yellow) * choose(red_cup, red)
            yield (
                ways,
                Turn(
                    *(s.eaten, s.brains, 1),
                    *(s.green + green, s.yellow + yellow, s.red + red),
                    *(green_brains, yellow_brains, red_brains),
                    *(green_cup - green, yellow_cup - yellow, red_cup - red),
                ),
            )


def throwing(s: Turn) -> Iterator[tuple[int, Turn]]:
    """Throw the dice in hand, kind by kind."""
    for g_ways, g_brains, g_feet in falls(s.green, GREEN_BRAINS, GREEN_SHOTS):
        for y_ways, y_brains, y_feet in falls(s.yellow, YELLOW_BRAINS, YELLOW_SHOTS):
            for r_ways, r_brains, r_feet in falls(s.red, RED_BRAINS, RED_SHOTS):
                yield (
                    g_ways * y_ways * r_ways,
                    Turn(
                        *(s.eaten, s.brains + g_brains + y_brains + r_brains, 0),
                        *(g_feet, y_feet, r_feet),
                        *(s.green_brains + g_brains, s.yellow_brains + y_brains),
                        *(s.red_brains + r_brains,),
                        *(s.green_cup, s.yellow_cup, s.red_cup),
                    ),
                )


@dataclass(frozen=True)
class ZombieDice(Game):
    """Throw three dice, keep brains and shotguns, throw feet again; the third shotgun costs all.

    Six dice are green and kind, four yellow, and three red and cruel. After a throw stop and
    eat the brains of the turn, or go on: draw from the cup until there are three dice in hand,
    counting those that show feet. If the cup has too few, the dice with brains go back into it, and
    the brains still count. The score is the number of turns until all brains are eaten.
    """

    goal: int = parameter(13, at_least=1, at_most=40, about="brains to eat")
    players: ClassVar = 1
    objective: ClassVar = "minimize"
    action_names: ClassVar = ("throw", "go on", "stop")

    def start(self) -> Turn:
        return new_turn(0)

    def actions(self, s: Turn) -> Iterator[int]:
        if s.drawn:
            yield THROW
        else:
            yield GO_ON
            if s.brains > 0:
                yield STOP

    def outcomes(self, s: Turn, action: int) -> Outcomes:
        if action == STOP:
            yield 1, AGAIN, new_turn(s.eaten + s.brains)
        elif action == GO_ON:
            for ways, drawn in drawing(s):
                yield ways, AGAIN, drawn
        else:
            for ways, thrown in throwing(s):
                if shotguns(thrown) >= SHOTGUNS:
                    yield ways, AGAIN, new_turn(s.eaten)
                else:
                    then = END if s.eaten + thrown.brains >= self.goal else AGAIN
                    yield ways, then, thrown

    def reward(self, s: Turn, action: int) -> float:
        return 1.0 if s == new_turn(s.eaten) else 0.0

    def progress(self, s: Turn) -> int:
        return s.eaten

    def describe(self, s: Turn) -> str:
        hand = in_hand(s)
        text = f"{s.eaten} of {self.goal} eaten; this turn {on_table(s)}"
        return f"{text}; in hand {hand}" if hand else text

    def deed(self, s: Turn, action: int) -> str:
        return ("throw the dice", "draw dice", "stop")[action]

    def told(self, s: Turn, action: int, then: int, after: Turn, faces: Sequence[int] = ()) -> str:
        if then == END:
            return "the last brains are eaten"
        if action == STOP:
            return f"{brains(after.eaten)} eaten"
        if action == GO_ON:
            return f"in hand {in_hand(after)}"
        if after == new_turn(s.eaten):
            return "the third shotgun"
        feet = in_hand(after)
        return f"{on_table(after)}; feet on {feet}" if feet else on_table(after)

    @policy
    def stop_at_two_shotguns(self, s: Turn) -> int:
        """Stop as soon as there are two shotguns and a brain, and not before."""
        if s.drawn:
            return THROW
        return STOP if shotguns(s) == 2 and s.brains > 0 else GO_ON


def brains(n: int) -> str:
    """So many brains, in words."""
    return f"{n} brain{'' if n == 1 else 's'}"


def on_table(s: Turn) -> str:
    """The brains and shotguns of the turn, in words."""
    shots = shotguns(s)
    return f"{brains(s.brains)} and {shots} shotgun{'' if shots == 1 else 's'}"


def in_hand(s: Turn) -> str:
    """The dice in hand, in words: those that show feet, or three."""
    colours = ((s.green, "green"), (s.yellow, "yellow"), (s.red, "red"))
    return " ".join(f"{n} {colour}" for n, colour in colours if n)
