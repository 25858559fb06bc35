"""Record a play of a game at random: python tests/record_playthrough.py GAME [name=value ...]

Writes tests/playthroughs/GAME.json, which test_playthroughs.py replays; of another number of
players than its usual one, GAME-players.json. Read it against the rule sheet before you commit it:
it pins the rules as they are.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

from rollwise import Game
from rollwise.dice import Pool
from rollwise.games import create, find
from rollwise.then import is_over, then_text

FOLDER = Path(__file__).parent / "playthroughs"


def numbers(written: Any) -> Any:
    """A state, a throw or a field as JSON has it: tuples as lists."""
    return [numbers(n) for n in written] if isinstance(written, tuple) else int(written)


def throws_of(game: Game, state: Any) -> list[tuple[Any, Any]]:
    """What may be thrown, with its weight; with a pool of dice, in one throw."""
    found = list(game.throws(state))
    return found[0].throws if isinstance(found[0], Pool) else found


def play(game: Game, seed: int) -> list[dict]:
    """One play from the start, every action equally likely."""
    choose = random.Random(seed)
    state = game.start()
    moves = []
    while True:
        situation: tuple = (state,)
        if type(game).throws is not Game.throws:
            throws = throws_of(game, state)
            situation = (state, choose.choices(throws, [float(w) for w, _ in throws])[0][1])
        if game.reads_rolls_left:
            (pool,) = game.throws(state)
            situation += (choose.randrange(pool.rerolls + 1),)
        actions = list(game.actions(*situation))
        action = choose.choice(actions)
        outcomes = list(game.outcomes(*situation, action))
        weight, then, following = choose.choices(outcomes, [float(w) for w, _, _ in outcomes])[0]
        goes_on = not is_over(then)
        moves.append(
            {
                "state": numbers(state),
                **({"throw": numbers(situation[1])} if len(situation) > 1 else {}),
                **({"rolls_left": situation[2]} if len(situation) > 2 else {}),
                "actions": [int(a) for a in actions],
                "action": int(action),
                "weight": int(weight),
                "of": int(sum(w for w, _, _ in outcomes)),
                "then": then_text(then),
                "next": numbers(following) if goes_on else None,
            }
        )
        if not goes_on:
            return moves
        state = following


def main(name: str, *settings: str) -> None:
    game = create(find(name), dict(setting.split("=") for setting in settings))
    moves = min((play(game, seed) for seed in range(200)), key=lambda m: abs(len(m) - 12))
    lines = ",\n  ".join(json.dumps(move) for move in moves)
    head = json.dumps({"game": game.name, "parameters": game.parameters})[:-1]
    usual = find(name)().players == game.players
    path = FOLDER / f"{game.name}{'' if usual else f'-{game.players}'}.json"
    path.write_text(f'{head}, "moves": [\n  {lines}\n]}}\n')
    print(f"{path.name}: {len(moves)} moves")


if __name__ == "__main__":
    main(*sys.argv[1:])
