"""``rollwise serve``: games in a browser, and a JSON API."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.commands.play import HistoryOption
from rollwise.cli.streams import system_error
from rollwise.errors import NotServed, UsageError
from rollwise.machine.memory_limits import memory_of_machine

MOST_MEMORY = 1_000_000  # GB


@app.command("serve")
def serve(
    games: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME]...",
            help="Names, or path/to/file.py:ClassName; the gallery and the rule sheets of this "
            "folder unless given.",
        ),
    ] = None,
    host: str = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    solutions: Path | None = None,
    time_limit: Annotated[float, typer.Option(min=0.1)] = 600.0,
    game_memory: Annotated[float, typer.Option(min=0.5)] = 4.0,
    total_memory: Annotated[float | None, typer.Option(min=0.5)] = None,
    most_games: Annotated[int, typer.Option(min=2)] = 8,
    history: HistoryOption = None,
    rate: Annotated[float, typer.Option(min=1)] = 500.0,
) -> None:
    """Serve games to browsers, with a JSON API.

    --host TEXT         The address to listen on; 0.0.0.0 is open to the network.
    --port N            The port; 0 for a free one.
    --solutions FOLDER  Use the solutions saved there by `solve --save`.
    --time-limit X      Seconds for a game to be solved, and for an answer.
    --game-memory X     GB of addresses for each process of a game.
    --total-memory X    GB for all games together; three quarters of the machine's memory unless
                        given.
    --most-games N      Games kept in memory at once.
    --rate X            Requests per second allowed from one address.
    """
    from rollwise.serve import require_web

    require_web()
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from rollwise.coach.json_lines import History
    from rollwise.serve.app import LOCAL, Connections, make_app
    from rollwise.serve.workers import Limits, offer

    _check_memory({"--game-memory": game_memory, "--total-memory": total_memory})
    offered = offer(games or (), solutions)
    if history is not None:
        History(history)  # raises the error of an unusable file
    all_together = 0.75 * memory_of_machine() if total_memory is None else total_memory * 1e9
    limits = Limits(
        seconds=time_limit, memory=int(game_memory * 1e9), games=most_games, rate=rate,
        total=int(all_together) or Limits.total,
    )  # fmt: skip
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends small answers at once (TCP_NODELAY).
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, UnicodeError) as error:
        listening.close()
        why = system_error(error) if isinstance(error, OSError) else "no such address"
        raise NotServed(f"--host {host} --port {port} can't be had: {why}") from None
    name = f"[{host}]" if family == socket.AF_INET6 else host
    hosts = None if host in ("0.0.0.0", "::") else LOCAL | {name.lower()}
    made = make_app(offered, limits, hosts, None if history is None else history.resolve())
    typer.echo(f"{len(offered.kinds)} games: {', '.join(offered.kinds)}")
    typer.echo(f"http://{name}:{listening.getsockname()[1]}/ (Ctrl-C ends it)")
    config = uvicorn.Config(
        made, log_level="warning", server_header=False, timeout_keep_alive=15,
        http=Connections(H11Protocol), ws="none",  # type: ignore[arg-type]
        proxy_headers=False,  # any client can forge them
        timeout_graceful_shutdown=2,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


def _check_memory(given: dict[str, float | None]) -> None:
    for name, gigabytes in given.items():
        if gigabytes is not None and not gigabytes <= MOST_MEMORY:
            raise UsageError(f"{name} is {gigabytes:g} GB; it must be at most {MOST_MEMORY:,}")
