"""Games of games that are too large for one graph, and what `check` says of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import rollwise
from rollwise import AGAIN, PASS, WIN, Game, policy
from rollwise.builders import limits
from rollwise.games.pig import Pig
from rollwise.games.yahtzee import Yahtzee
from rollwise.simulate.turn_by_turn import (
    best_play,
    play_turn_by_turn,
)


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
    assert played.positions[0].tolist() == answer.states[answer.start].tolist()
    again = play_turn_by_turn(game, best_play(answer), 400, 1)
    assert again.gains.tolist() == played.gains.tolist()


@pytest.mark.needs_jit
def test_parts_of_an_answer_are_worth_what_it_says() -> None:
    answer = rollwise.solve_by_layers(Pig(target=6))
    numbers = np.arange(len(answer.states))[::-2]
    part = answer.parts(numbers)
    assert answer.numbers_of(answer.states[numbers]).tolist() == numbers.tolist()
    found, known = part.values[: len(numbers)], answer.values[numbers]
    assert np.all(abs(found - known) <= part.error_bound + answer.error_bound)


class Total(NamedTuple):
    total: int


@dataclass(frozen=True)
class Long(Game):
    """Add one to three to a common total; who comes to the mark wins."""

    mark: int = 60
    falls: bool = False

    def start(self) -> Total:
        return Total(0)

    def actions(self, s: Total) -> Any:
        yield 1
        yield 2

    def outcomes(self, s: Total, action: int) -> Any:
        for more in (action, action + 1):
            if s.total + more >= self.mark:
                yield 1, WIN, s
            else:
                yield 1, PASS if more > 1 else AGAIN, Total(s.total + more)

    def progress(self, s: Total) -> int:
        return -s.total if self.falls else s.total

    @policy
    def odd(self, s: Total) -> int:
        """Two after an even total."""
        return 2 if s.total % 2 == 0 else 3 if self.falls else 1


@pytest.mark.usefixtures("interpreted")
def test_check_looks_at_a_sample_of_a_large_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_STATES_INTERPRETED", 50)
    monkeypatch.setattr(limits, "MAX_STATES", 50)
    monkeypatch.setattr("rollwise.builders.some_states.jit_disabled", lambda: True)
    report = rollwise.check(Long())
    told = {finding.topic: finding for finding in report.findings}
    assert report.passed
    assert told["size"].level == "note"
    assert "100 games came to" in told["rules"].text
    assert told["policies"].text == "odd has an action wherever 20 games came to"
    assert told["progress"].level == "ok"
    assert told["actions that are never right"].text == (
        "not looked for: the game is too large for that"
    )
    report = rollwise.check(Long(falls=True))
    wrong = {finding.topic for finding in report.findings if finding.level == "error"}
    assert wrong == {"progress", "policies"}
    assert not rollwise.check(Long(), max_states=10).passed  # it can't be solved so
