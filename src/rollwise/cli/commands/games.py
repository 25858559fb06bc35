"""``rollwise games``: what there is to play."""

from __future__ import annotations

from rollwise.cli.app import app
from rollwise.cli.common import JsonOption, print_json, print_table
from rollwise.documents.games import games_document
from rollwise.games import available
from rollwise.parameters import typed


@app.command("games")
def games(json: JsonOption = False) -> None:
    """List the games with their parameters and policies."""
    document = games_document(available().values())
    if json:
        print_json(document)
        return
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("game", "parameters", "policies", "what it is"):
        table.add_column(title, overflow="fold")
    for game in document["games"]:
        parameters = " ".join(
            f"{parameter['name']}={typed(parameter['default'])}" for parameter in game["parameters"]
        )
        table.add_row(game["game"], parameters, ", ".join(game["policies"]), game["description"])
    print_table(table)
