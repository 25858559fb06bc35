"""Recorded plays, replayed: they pin each game's rules apart from its solution."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from record_playthrough import numbers, throws_of

from rollwise import build
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import some_states
from rollwise.errors import TooManyStates
from rollwise.games import available, create, find
from rollwise.graph.layout import StateLayout
from rollwise.many.seats import build_seats
from rollwise.then import is_over, then_text

RECORDS = sorted((Path(__file__).parent / "playthroughs").glob("*.json"))


def flat(fields: list) -> list[int]:
    """The numbers of a state, those of its tuples one by one."""
    return [n for field in fields for n in (field if isinstance(field, list) else [field])]


def test_every_game_has_a_playthrough():
    """A new game gets one from record_playthrough.py."""
    assert {path.stem for path in RECORDS} >= set(available())


@pytest.mark.slow
@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_replay(path):
    record = json.loads(path.read_text())
    said = {name: str(value).lower() for name, value in record["parameters"].items()}
    game = create(find(record["game"]), said)
    try:
        make = build_seats if game.players > 2 else build
        graph = make(game, mode="interpreted", max_states=10_000)
    except TooManyStates:  # of a game that is solved by layers, each position has its own
        graph = None
    state = game.start()
    layout = StateLayout.of(game)
    for i, move in enumerate(record["moves"]):
        assert list(layout.numbers(state)) == flat(move["state"])
        situation = (state,)
        if "throw" in move:
            throws = [throw for _, throw in throws_of(game, state)]
            situation = (state, next(t for t in throws if numbers(t) == move["throw"]))
        given = situation + ((move["rolls_left"],) if game.reads_rolls_left else ())
        assert list(game.actions(*given)) == move["actions"]
        outcomes = list(game.outcomes(*given, move["action"]))
        assert sum(weight for weight, _, _ in outcomes) == move["of"]
        following = [
            nxt
            for weight, then, nxt in outcomes
            if then_text(then) == move["then"]
            and weight == move["weight"]
            and (is_over(then) or list(layout.numbers(nxt)) == flat(move["next"]))
        ]
        assert following
        # and the graph knows the same move
        here, border = graph, None
        if here is None:
            here, border = some_states(Rules(game), np.array([flat(move["state"])], np.int32))
        last = (move.get("rolls_left", 0),) if here.has_pool else ()
        s = here.find(flat(move["state"]), *situation[1:], *last)
        begin, end = here.action_indptr[s : s + 2]
        a = begin + here.action_label[begin:end].tolist().index(move["action"])
        targets = here.outcome_state[here.outcome_indptr[a] : here.outcome_indptr[a + 1]]
        if move["next"] is None:
            assert i == len(record["moves"]) - 1
            assert -1 in targets
        elif border is None:
            assert here.find(flat(move["next"])) in targets
        else:
            assert flat(move["next"]) in border[targets - here.n_states].tolist()
        state = following[0]
    assert record["moves"][-1]["next"] is None
