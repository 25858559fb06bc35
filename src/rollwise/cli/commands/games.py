"""``rollwise games``: what there is to play."""

from __future__ import annotations

import inspect
from typing import Any

from rollwise.cli.app import app
from rollwise.cli.common import JsonOption, print_json, print_table
from rollwise.game import Game
from rollwise.games import available
from rollwise.parameters import parameter_specs


def _describe(cls: type[Game]) -> dict[str, Any]:
    policies = {
        name: (inspect.getdoc(function) or "").partition("\n")[0]
        for name, function in cls.policies().items()
    }
    return {
        "game": cls.name,
        "description": (inspect.getdoc(cls) or "").partition("\n")[0],
        "players": cls.players,
        "objective": cls.objective,
        "parameters": [
            {
                "name": spec.name,
                "type": spec.type.__name__,
                "default": spec.default,
                "range": spec.range_text,
                "about": spec.about,
            }
            for spec in parameter_specs(cls)
        ],
        "policies": policies,
    }


@app.command("games")
def games(json: JsonOption = False) -> None:
    """List the games with their parameters and policies."""
    described = [_describe(cls) for cls in available().values()]
    if json:
        print_json({"games": described})
        return
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("game", "parameters", "policies", "what it is"):
        table.add_column(title, overflow="fold")
    for game in described:
        parameters = " ".join(
            f"{p['name']}={str(p['default']).lower() if p['type'] == 'bool' else p['default']}"
            for p in game["parameters"]
        )
        table.add_row(game["game"], parameters, ", ".join(game["policies"]), game["description"])
    print_table(table)
