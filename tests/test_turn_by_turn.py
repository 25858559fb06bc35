"""Games of games that are too large for one graph, and what `check` says of these."""

from __future__ import annotations

import numpy as np
import pytest

import rollwise
from rollwise import Game
from rollwise.games.pig import Pig
from rollwise.games.yahtzee import Yahtzee
from rollwise.simulate.turn_by_turn import best_play, play_turn_by_turn


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling takes longer than these tests."""
    monkeypatch.setattr("rollwise.builders.some_states.FEW", 10**9)


@pytest.mark.needs_jit
@pytest.mark.parametrize("game", [Pig(target=6), Yahtzee(boxes=1)], ids=lambda game: game.name)
@pytest.mark.usefixtures("interpreted")
def test_the_best_play_gains_what_the_start_is_worth(game: Game) -> None:
    answer = rollwise.solve_by_layers(game)
    played = play_turn_by_turn(game, best_play(answer), 400, 1)
    assert played.over.all()
    assert abs(played.mean - answer.value) < 4 * played.standard_error
    assert played.visits.sum() >= 400
    assert played.positions[0].tolist() == answer.space.states[answer.start].tolist()
    again = play_turn_by_turn(game, best_play(answer), 400, 1)
    assert again.gains.tolist() == played.gains.tolist()


@pytest.mark.needs_jit
def test_parts_of_an_answer_are_worth_what_it_says() -> None:
    answer = rollwise.solve_by_layers(Pig(target=6))
    numbers = np.arange(len(answer.space.states))[::-2]
    part, _ = answer.near(numbers)
    assert answer.numbers_of(answer.space.states[numbers]).tolist() == numbers.tolist()
    found, known = part.values[: len(numbers)], answer.values[numbers]
    assert np.all(abs(found - known) <= part.error_bound + answer.error_bound)
