"""The server's routes: each reads a request, asks a worker, and answers with its text."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.resources
import json
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rollwise.documents.games import games_document
from rollwise.documents.parts import as_json
from rollwise.errors import ParameterError, RollwiseError, UnknownGame, UsageError
from rollwise.game import Game
from rollwise.graph.naming import typed_state
from rollwise.parameters import typed
from rollwise.serve.connections import CONNECTION, Connection
from rollwise.serve.offered import Offered
from rollwise.serve.workers import Busy, Limits, NotSolved, NotYours, Worker, Workers

MOST_BODY = 16_384  # bytes
MOST_RECORD = 200_000  # bytes of a game that is kept
MOST_ADDRESS = 4_096  # bytes of a path and its query
PATIENCE = 20.0  # seconds for a body to come, and for a part of an answer to be taken
MOST_CLIENTS = 10_000  # whose rates are known
WRITTEN = "as FIELD=NUMBER, with commas between (a field of several numbers as FIELD=(0,2,1))"
LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]"})
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
OURS = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:"
# The coach page names the hashes of its script and style itself; a report's origin is its own.
COACH = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'"
)
PICTURES = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:"
)
STATUS = {UnknownGame: 404, NotSolved: 409, Busy: 503, NotYours: 403}
END = "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class Guard:
    """Refuses foreign hosts, long addresses and hasty clients; sets the headers of every answer.

    Parameters
    ----------
    hosts : frozenset of str, optional
        Names that the server goes by, which keeps pages of others from reaching it under a name
        of theirs (DNS rebinding); None for any.
    rate : float
        See `Limits`.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None, rate: float) -> None:
        self.app = app
        self.hosts = hosts
        self.rate = rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        connection = scope.get("state", {}).get(CONNECTION, Connection())
        is_answered = False

        async def sent(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", []))
                known = {name for name, _ in headers}
                headers += [pair for pair in HEADERS if pair[0] not in known]
                if b"content-security-policy" not in known:
                    headers.append((b"content-security-policy", (OURS + END).encode()))
                message["headers"] = headers
            try:
                async with asyncio.timeout(PATIENCE):
                    await send(message)
            except TimeoutError:  # the client reads nothing
                connection.abort()

        refusal = self._refusal(scope)
        connection.works()
        try:
            await (refusal or self.app)(scope, receive, sent)
        except asyncio.CancelledError:  # the server ends
            if not is_answered:
                await _error("the server ends", 503)(scope, receive, sent)
        finally:
            connection.waits()

    def _refusal(self, scope: Scope) -> Response | None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if self.hosts is not None and re.sub(r":\d+$", "", host) not in self.hosts:
            return _error(f"this server isn't {host!r}; rollwise serve --host says who it is", 400)
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        if origin and scope["method"] != "GET" and origin.partition("://")[2] != host:
            return _error("requests from pages of others are refused", 403)
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_ADDRESS:
            return _error(f"the address is longer than {MOST_ADDRESS} bytes", 414)
        if not self._may((scope.get("client") or ("",))[0]):
            return _error("too many requests; wait a second", 429)
        return None

    def _may(self, client: str) -> bool:
        """Whether a client may ask again: its bucket holds the requests of two seconds."""
        now = time.monotonic()
        left, before = self._left.pop(client, (2 * self.rate, now))
        left = min(left + (now - before) * self.rate, 2 * self.rate)
        self._left[client] = (max(left - 1, 0), now)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return left >= 1


def make_app(
    offered: Offered,
    limits: Limits,
    hosts: frozenset[str] | None = LOCAL,
    history: Path | None = None,
) -> Starlette:
    """The server as an ASGI application.

    Parameters
    ----------
    hosts : frozenset of str, optional
        See `Guard`.
    history : Path, optional
        Where games are kept that were played on its pages.
    """
    workers = Workers(offered, limits)
    site = _Site(offered, workers, history)

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(workers.watch_memory())
        yield
        watching.cancel()
        await workers.close()

    app = Starlette(
        routes=[
            Route("/", _file("index.html", "text/html")),
            Route("/serve.js", _file("serve.js", "text/javascript")),
            Route("/serve.css", _file("serve.css", "text/css")),
            Route("/page.css", _file("page.css", "text/css", "rollwise.page")),
            Route("/api/games", site.games),
            Route("/api/games/{name}", site.game),
            Route("/api/solve", site.begin, methods=["POST"]),
            Route("/api/solve", site.status, methods=["GET"]),
            Route("/api/solve", site.stop, methods=["DELETE"]),
            Route("/api/advise", site.advise),
            Route("/api/position", site.position),
            Route("/api/map", site.map),
            Route("/api/history", site.keep, methods=["POST"]),
            Route("/api/table", site.table),
            Route("/page", site.page),
            Route("/report", site.report),
            Route("/plot", site.plot),
        ],
        exception_handlers={
            RollwiseError: _refused,
            HTTPException: lambda request, error: _error(error.detail, error.status_code),
        },
        lifespan=life,
    )
    app.add_middleware(Guard, hosts=hosts, rate=limits.rate)
    return app


class _Site:
    def __init__(self, offered: Offered, workers: Workers, history: Path | None) -> None:
        self.offered = offered
        self.workers = workers
        self.history = history

    async def games(self, request: Request) -> Response:
        return _json(as_json(games_document(self.offered.kinds.values())))

    async def game(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self.offered.kinds:
            raise UnknownGame(f"no game is called {name!r} here (/api/games lists them)")
        return _json(as_json(games_document([self.offered.kinds[name]])["games"][0]))

    async def begin(self, request: Request) -> Response:
        worker = self.workers.begin(self.offered.game(*_wanted(await _body(request))))
        return _status(worker, key=worker.key_for_a_client())

    async def status(self, request: Request) -> Response:
        worker = self.workers.held(self._asked(request))
        if worker is None:
            raise NotSolved("this game isn't being solved; POST /api/solve solves it")
        return _status(worker)

    async def stop(self, request: Request) -> Response:
        self.workers.give_up(self._asked(request), _query(request, "key"))
        return Response(status_code=204)

    async def advise(self, request: Request) -> Response:
        return _json(await self._ask(request, {"ask": "advise", **_place(request)}))

    async def position(self, request: Request) -> Response:
        question = {"ask": "position", **_place(request), "action": _query(request, "action")}
        return _json(await self._ask(request, question))

    async def map(self, request: Request) -> Response:
        axes = {name: _query(request, name) for name in ("x", "y")}
        return _json(await self._ask(request, {"ask": "map", **_place(request), **axes}))

    async def keep(self, request: Request) -> Response:
        if self.history is None:
            raise UsageError("this server keeps no games; rollwise serve --history FILE does")
        record = json.dumps(await _body(request, MOST_RECORD))
        question = {"ask": "keep", "record": record, "history": str(self.history)}
        worker = self.workers.solved(self._asked(request))
        return _json(await worker.ask(question, is_remembered=False), 201)

    async def table(self, request: Request) -> Response:
        question = {
            "ask": "table",
            "where": _query(request, "where"),
            "limit": _number(_query(request, "limit") or "100", "limit"),
            "offset": _number(_query(request, "offset") or "0", "offset"),
        }
        return _json(await self._ask(request, question))

    async def page(self, request: Request) -> Response:
        is_file = _query(request, "file") == "yes"
        question = {"ask": "page", "keeps": self.history is not None, "file": is_file}
        return _html(await self._ask(request, question), COACH)

    async def report(self, request: Request) -> Response:
        return _html(await self._ask(request, {"ask": "report"}), PICTURES)

    async def plot(self, request: Request) -> Response:
        choices = {name: _query(request, name) for name in ("x", "y", "where")}
        kind = _query(request, "kind") or "policy"
        return _html(await self._ask(request, {"ask": "plot", "kind": kind, **choices}), PICTURES)

    def _asked(self, request: Request) -> Game:
        values: dict[str, str] = {}
        for text in request.query_params.getlist("parameter"):
            name, equals, value = text.partition("=")
            if not equals or name in values:
                raise ParameterError(f"{text!r} isn't a parameter; write name=value, each once")
            values[name] = value
        return self.offered.game(_query(request, "game") or "", values)

    async def _ask(self, request: Request, question: dict[str, Any]) -> str:
        return await self.workers.solved(self._asked(request)).ask(question)


async def _body(request: Request, most: int = MOST_BODY) -> Any:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "the body must be application/json")
    body = b""
    try:
        async with asyncio.timeout(PATIENCE):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise HTTPException(413, f"the body is longer than {most} bytes")
    except TimeoutError:
        raise HTTPException(408, f"the body didn't come within {PATIENCE:g} seconds") from None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise UsageError("the body isn't JSON") from None


def _wanted(body: Any) -> tuple[str, dict[str, str]]:
    """The game and its parameters that a body asks for."""
    form = '{"game": "pig", "parameters": {"target": 10}}'
    if not isinstance(body, dict) or not {"game"} <= body.keys() <= {"game", "parameters"}:
        raise UsageError(f"the body must be like {form}")
    game, values = body["game"], body.get("parameters", {})
    if not isinstance(game, str) or not isinstance(values, dict):
        raise UsageError(f"the body must be like {form}")
    for name, value in values.items():
        if not isinstance(value, int | float | str):
            raise ParameterError(f"{game}: {name} must be a number, a text, true or false")
    return game, {name: typed(value) for name, value in values.items()}


def _query(request: Request, name: str) -> str | None:
    given = request.query_params.getlist(name)
    if len(given) > 1:
        raise UsageError(f"{name} is given twice")
    return given[0] if given else None


def _place(request: Request) -> dict[str, Any]:
    """The position that a request asks about, and what was thrown there."""
    throw, left = _query(request, "throw"), _query(request, "rolls_left")
    return {
        "state": typed_state(_query(request, "state") or "", lambda: WRITTEN),
        "throw": None if throw is None else _numbers(throw, "throw"),
        "rolls_left": None if left is None else _number(left, "rolls_left"),
    }


def _number(text: str, what: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise UsageError(f"{what} must be a whole number, not {text[:40]!r}")
    return int(text)


def _numbers(text: str, what: str) -> list[int]:
    if not re.fullmatch(r"-?[0-9]{1,9}(,-?[0-9]{1,9})*", text):
        raise UsageError(f"{what} must be whole numbers, as in 3,5, not {text[:40]!r}")
    return [int(number) for number in text.split(",")]


def _file(
    name: str, kind: str, room: str = "rollwise.serve"
) -> Callable[[Request], Awaitable[Response]]:
    text = importlib.resources.files(room).joinpath(name).read_text(encoding="utf-8")

    async def answer(request: Request) -> Response:
        return Response(text, media_type=kind)

    return answer


def _status(worker: Worker, **more: Any) -> Response:
    return _json(as_json(worker.status() | more), 202 if worker.is_solving else 200)


def _json(text: str, status: int = 200) -> Response:
    return Response(text, status, media_type="application/json")


def _html(text: str, policy: str) -> Response:
    return Response(text, media_type="text/html", headers={"content-security-policy": policy + END})


def _error(message: str, status: int) -> Response:
    return JSONResponse({"error": message}, status)


async def _refused(request: Request, error: Exception) -> Response:
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 400)
    return _error(" ".join(str(error).split())[:800], status)
