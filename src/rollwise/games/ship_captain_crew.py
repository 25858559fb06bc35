"""Ship, captain and crew: a 6, a 5 and a 4 in this order, and two dice of cargo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards, dice
from rollwise.game import AGAIN, END, Game, parameter, policy

DICE = 5
CREW = 3  # dice that show 6, 5 and 4
THROW_ALL, STOP = 0, 7  # from 1 to 6: keep a die of cargo with this face, and throw the other

NAMES = ("ship", "captain", "crew", "cargo", "cargo")

Throw = tuple[int, int, int, int, int]  # the faces, in order; 0 for a die not thrown


class Boat(NamedTuple):
    found: int  # of ship, captain and crew, in this order
    kept: int  # a die of cargo that isn't thrown again, or 0
    throws: int  # left


def found_with(s: Boat, throw: Throw) -> int:
    """Number of ship, captain and crew after a throw."""
    number = s.found
    for face in (6, 5, 4):
        if number == 6 - face and dice.how_often(throw, face) > 0:
            number += 1
    return number


def cargo(s: Boat, throw: Throw) -> tuple[int, int]:
    """The two dice of cargo after the throw that completes the crew, or a later one."""
    low, high = s.kept, 0
    before = 0
    for shown in throw:
        # faces ascend, so further dice of a face stand behind its first one and are cargo
        is_crew = CREW < shown <= 6 - s.found and shown != before
        before = shown
        if shown > 0 and not is_crew:
            if low == 0:
                low = shown
            else:
                high = shown
    return min(low, high), max(low, high)


@dataclass(frozen=True)
class ShipCaptainCrew(Game):
    """Find a 6, a 5 and a 4, in this order, and score the sum of the other two dice.

    Throw five dice. Set aside a 6, the ship; once there is a ship a 5, the captain; once there is
    a captain a 4, the crew: one throw may bring several of them. The two dice left then are the
    cargo, and with throws left one of them or both may be thrown again. There are three throws.
    Without a crew the score is 0. The best chance to find a crew at all is another aim:
    `as=chase target=1`. Two players, of whom the second knows the score to beat, play it with
    `as=contest players=2`.
    """

    tries: int = parameter(3, at_least=1, at_most=10, about="throws")
    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = {
        THROW_ALL: "throw all that are left",
        **{face: f"keep {face}, throw the other" for face in range(1, 7)},
        STOP: "stop",
    }

    def start(self) -> Boat:
        return Boat(0, 0, self.tries)

    def throws(self, s: Boat) -> Iterator[tuple[int, Throw]]:
        n = DICE - s.found - (s.kept > 0)
        for ways, shown in dice.faces(n, 6):
            b = shown[1] if n > 1 else 0
            c = shown[2] if n > 2 else 0
            d = shown[3] if n > 3 else 0
            e = shown[4] if n > 4 else 0
            yield ways, (shown[0], b, c, d, e)

    def actions(self, s: Boat, throw: Throw) -> Iterator[int]:
        crew = found_with(s, throw) == CREW
        if s.throws > 1:
            yield THROW_ALL
            if crew:
                low, high = cargo(s, throw)
                yield low
                if high > low:
                    yield high
        if crew or s.throws == 1:
            yield STOP

    def reward(self, s: Boat, throw: Throw, action: int) -> float:
        if action != STOP or found_with(s, throw) < CREW:
            return 0.0
        low, high = cargo(s, throw)
        return float(low + high)

    def outcomes(self, s: Boat, throw: Throw, action: int) -> Iterator[tuple[int, int, Boat]]:
        if action == STOP:
            yield 1, END, s
        else:
            yield 1, AGAIN, Boat(found_with(s, throw), action, s.throws - 1)

    def progress(self, s: Boat) -> int:
        return self.tries - s.throws

    def describe(self, s: Boat) -> str:
        crew = dice.spoken(NAMES[: s.found]) if s.found else "no ship"
        kept = f", cargo {s.kept}" if s.kept else ""
        return f"{crew}{kept}; {s.throws} throw{'' if s.throws == 1 else 's'} left"

    def cells(self, s: Boat) -> boards.Board:
        faces = [*(6 - k if k < s.found else 0 for k in range(CREW)), s.kept, 0]
        crew = zip(NAMES, faces, strict=True)
        return [[boards.label(name), boards.die(face)] for name, face in crew]

    def throw_text(self, s: Boat, throw: Throw) -> str:
        return dice.spoken(face for face in throw if face)

    def deed(self, s: Boat, throw: Throw, action: int) -> str:
        return f"keep {action}" if THROW_ALL < action < STOP else self.action_names[action]

    def told(self, s: Boat, throw: Throw, action: int, then: int, after: Boat) -> str:
        if then == AGAIN:
            return self.describe(after)
        if found_with(s, throw) < CREW:
            return "no crew"
        return f"a cargo of {sum(cargo(s, throw))}"

    @policy
    def keep_four(self, s: Boat, throw: Throw) -> int:
        """Throw a die of cargo below 4 again."""
        if s.throws == 1 or found_with(s, throw) < CREW:
            return STOP if s.throws == 1 else THROW_ALL
        low, high = cargo(s, throw)
        if low >= 4:
            return STOP
        return high if high >= 4 else THROW_ALL
