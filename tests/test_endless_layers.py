"""Layers of games with throws, whether or not play ends, against values in fractions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import pytest
from little_games import Spot

import rollwise
from rollwise import AGAIN, DRAW, LOSE, PASS, WIN, Game
from rollwise.answer.layer_folder import open_folder
from rollwise.answer.layered_states import LayeredStates
from rollwise.answer.verify import verify_layers
from rollwise.coach import Session, Table
from rollwise.errors import EndlessPlay
from rollwise.simulate.turn_by_turn import best_play, play_turn_by_turn

pytestmark = pytest.mark.needs_jit


@pytest.fixture(autouse=True, params=["small", "large"], scope="module")
def size(request):
    """Whether layers are solved as those of small games are, or as those of large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rollwise.answer.by_layers.ORDERED", 0 if request.param == "large" else 1e12)
        yield request.param


class Rung(NamedTuple):
    height: int
    side: int


@dataclass(frozen=True)
class Stuck(Game):
    """A ladder, at whose end one can only stay."""

    endless: ClassVar = "lose"
    top: int = 6

    def start(self):
        return Rung(0, 0)

    def throws(self, s):
        yield 1, 0
        yield 1, 1

    def actions(self, s, throw):
        yield 0

    def outcomes(self, s, throw, action):
        if s.height == self.top:
            yield 1, AGAIN, s
        else:
            yield 2, AGAIN, Rung(s.height + 1, throw)
            yield 1, WIN, s

    def progress(self, s):
        return s.height


@dataclass(frozen=True)
class Drawn(Stuck):
    """The same where endless play is a draw."""

    name: ClassVar = "stuck"
    endless: ClassVar = "draw"


@dataclass(frozen=True)
class Refused(Stuck):
    """The same where nothing is said."""

    endless: ClassVar = "forbidden"


def test_endless_play_has_its_worth():
    lost, drawn = (rollwise.solve_by_layers(game) for game in (Stuck(), Drawn()))
    assert abs(lost.value - (1 - 2 * (2 / 3) ** 6)) <= lost.error_bound + 1e-15
    assert abs(drawn.value - (1 - (2 / 3) ** 6)) <= drawn.error_bound + 1e-15
    with pytest.raises(EndlessPlay, match="height=6.*say what endless play is worth"):
        rollwise.solve_by_layers(Refused())


def test_a_folder_of_false_values_is_refused(tmp_path):
    """As a faulty engine would have written it: its checksums are those of what it says."""
    rollwise.solve_by_layers(Stuck(), save=tmp_path / "lost")
    assert verify_layers(tmp_path / "lost", Stuck()).verified
    folder = open_folder(tmp_path / "lost", Stuck(), to_write=True)
    false = rollwise.solve_by_layers(Drawn())
    folder.values[:], folder.error_bounds[:] = false.values, false.error_bounds
    for layer in list(folder.checksums):
        folder.keep(layer)
    folder.write()
    assert "can't be proved" in verify_layers(tmp_path / "lost", Stuck()).fault


@dataclass(frozen=True)
class Staring(Stuck):
    """Both may pass for ever, which both lose; who doesn't, loses half of the time."""

    def actions(self, s, throw):
        yield 0
        yield 1

    def outcomes(self, s, throw, action):
        if action == 0:
            yield 1, PASS, s
        else:
            yield 1, LOSE, s
            yield 1 + throw, DRAW, s


def test_a_game_without_a_value_is_refused():
    with pytest.raises(EndlessPlay, match="the game may have no value"):
        rollwise.solve_by_layers(Staring())


@dataclass(frozen=True)
class Sure(Game):
    """Wait, or throw a coin that wins or leaves all as it is: a win is sure, unless one waits."""

    players: ClassVar = 1
    endless: ClassVar = "lose"

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        yield 1, AGAIN, Spot(s.place if action == 0 or s.place == 1 else 1)
        if action == 1 and s.place == 1:
            yield 1, WIN, s

    def progress(self, s):
        return s.place


@dataclass(frozen=True)
class SureThrown(Sure):
    """The same with a throw before, and a way out through another position, in one lane of many."""

    lanes: int = 1

    def throws(self, s):
        for lane in range(2 if s.place else self.lanes):
            yield 1, lane

    def actions(self, s, throw):
        yield 0
        yield 1

    def outcomes(self, s, throw, action):
        if action == 0:
            yield 1, AGAIN, s
        elif s.place == 0:
            yield 1, AGAIN, Spot(1 + 2 * throw)
        elif s.place % 2:
            yield 1, AGAIN, Spot(s.place + 1)
        elif throw == 1:
            yield 1, WIN, s
        else:
            yield 1, AGAIN, Spot(s.place - 1)

    def progress(self, s):
        return min(s.place, 1)


@pytest.mark.parametrize(
    "game", [Sure(), SureThrown(), SureThrown(lanes=1_100)], ids=["choices", "throws", "lanes"]
)
def test_the_best_player_of_a_large_answer_does_not_wait_for_ever(game, monkeypatch):
    """Its turns are graphs of some positions, which don't show that waiting goes on."""
    answer = rollwise.solve_by_layers(game)
    monkeypatch.setattr(LayeredStates, "is_small", False)
    session = Session(Table.of(answer, game), ["machine"], ["optimal"], seed=1)
    for _ in range(200):
        if not session.is_over:
            session.choose(session.machine_choice())
            session.roll()
    assert session.is_over
    assert play_turn_by_turn(game, best_play(answer), 20, 1).over.all()
