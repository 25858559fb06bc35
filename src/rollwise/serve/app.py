"""The server: its connections and its routes. A route asks a worker and sends its answer."""

from __future__ import annotations

import asyncio
import contextlib
import html
import json
import re
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rollwise.documents.games import games_document
from rollwise.documents.model import encode
from rollwise.documents.served import start_document
from rollwise.errors import ParameterError, RollwiseError, UnknownGame, UsageError
from rollwise.game import Game
from rollwise.graph.typed import read_numbers
from rollwise.parameters import read_values, typed
from rollwise.plot.pages import resource, shell
from rollwise.serve.workers import (
    Busy,
    Failed,
    Limits,
    NotSolved,
    NotYours,
    Offered,
    RulesChanged,
    Worker,
    Workers,
)

CONNECTION = "rollwise.connection"  # the key of the connection in a request's state
MOST = 900  # connections; a process often has a limit of 1,024 files
MOST_OF_AN_ADDRESS = 300
LONGEST_WAIT = 15.0  # seconds for the head of a request, from the start or the answer before


class Connection:
    """A connection as requests see it; this one is nowhere."""

    def works(self) -> None:
        """A request has come."""

    def waits(self) -> None:
        """It was answered."""

    def abort(self) -> None:
        """Close it at once."""


class Connections:
    """All connections of a server, with a limit for each address and for all.

    Over a limit, the connection idle for longest is closed. A new connection is refused where
    none is idle.

    Parameters
    ----------
    protocol : callable
        Makes the protocol (`asyncio.Protocol`) of a connection, as Uvicorn does.
    """

    def __init__(self, protocol: Callable[..., Any]) -> None:
        self._protocol = protocol
        self.of_address: Counter[str] = Counter()
        self.waiting: dict[Watched, None] = {}  # the longest idle first

    def __call__(self, *, app_state: dict[str, Any], **given: Any) -> Watched:
        """The protocol of a new connection."""
        watched = Watched(self)
        watched.inner = self._protocol(app_state={**app_state, CONNECTION: watched}, **given)
        return watched

    def make_room(self, new: Watched) -> None:
        """Close connections until there aren't too many; `new` has been counted."""
        if self.of_address[new.address] > MOST_OF_AN_ADDRESS:
            # the longest idle connection of this address goes, or the new one where none is idle
            same = (one for one in self.waiting if one.address == new.address)
            next(same, new).abort()
        elif self.of_address.total() > MOST:
            next(iter(self.waiting), new).abort()


class Watched(Connection):
    """A connection with a limit on idle time; its inner protocol does all else."""

    inner: Any = None

    def __init__(self, all_of_them: Connections) -> None:
        self._all = all_of_them
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        self.address = ""

    def works(self) -> None:
        self._all.waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()

    def waits(self) -> None:
        self.works()
        if self._transport is not None:
            self._all.waiting[self] = None
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(LONGEST_WAIT, self.abort)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
            self._forget()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self.address = str((transport.get_extra_info("peername") or ("",))[0])
        self._all.of_address[self.address] += 1
        self._all.make_room(self)
        self.inner.connection_made(transport)
        self.waits()

    def connection_lost(self, error: Exception | None) -> None:
        self._forget()
        self.inner.connection_lost(error)

    def _forget(self) -> None:
        self.works()
        if self._transport is not None:
            self._transport = None
            self._all.of_address -= Counter([self.address])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


MOST_BODY = 16_384  # bytes
MOST_RECORD = 200_000  # bytes of a saved game
MOST_ADDRESS = 4_096  # bytes of a path and its query
PATIENCE = 20.0  # seconds for a request's body, and for the client to take a part of an answer
MOST_CLIENTS = 10_000  # with a known rate
LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]"})
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
OURS = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:"
)
# The coach page names the hashes of its script and style itself; a report's origin is its own.
COACH = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'"
)
PICTURES = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:"
)
STATUS = {
    UnknownGame: 404,
    NotSolved: 409,
    RulesChanged: 410,
    Busy: 503,
    NotYours: 403,
    Failed: 500,
}
END = "; base-uri 'none'; form-action {}; frame-ancestors 'none'"
FIELD = "field."  # begins a filter of a table by a field
KEPT = ("game", "parameter", "limit")  # of the address of a table, in its links


class Guard:
    """Refuses foreign hosts, long addresses and hasty clients; sets the headers of every answer.

    Parameters
    ----------
    hosts : frozenset of str, optional
        Host names of the server; None for any. Foreign pages can't reach the server under another
        name (DNS rebinding).
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
                    headers.append(
                        (b"content-security-policy", (OURS + END.format("'none'")).encode())
                    )
                message["headers"] = headers
            try:
                async with asyncio.timeout(PATIENCE):
                    await send(message)
            except TimeoutError:  # the client doesn't read
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
            return _error(f"this server isn't {host!r}; see rollwise serve --host", 400)
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
        # a token bucket: it fills by `rate` a second, and a request takes one
        left, before = self._left.pop(client, (2 * self.rate, now))
        left = min(left + (now - before) * self.rate, 2 * self.rate)
        self._left[client] = (max(left - 1, 0), now)
        # the client that has been silent for longest is forgotten
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
        The file of the games played on its pages.
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
            Route("/page.css", _file("page.css", "text/css", "page")),
            *(
                Route(f"/{name}.js", _file(f"{name}.js", "text/javascript", "page"))
                for name in ("board", "dom", "strings")
            ),
            Route("/api/games", site.games),
            Route("/api/games/{name}", site.game),
            Route("/api/solve", site.begin, methods=["POST"]),
            Route("/api/solve", site.status, methods=["GET"]),
            Route("/api/solve", site.stop, methods=["DELETE"]),
            Route("/api/advise", site.asks("advise", _place)),
            Route("/api/position", site.asks("position", _place, action=None)),
            Route("/api/start", site.start),
            Route("/api/boards", site.boards, methods=["POST"]),
            Route("/api/map", site.asks("map", _place, x=None, y=None)),
            Route("/api/opponents", site.asks("opponents")),
            Route("/api/history", site.keep, methods=["POST"]),
            Route("/api/table", site.asks("table", _rows, where=None)),
            Route("/api/sheets", site.sheets),
            Route("/answer", site.asks("answer", policy=OURS)),
            Route("/advice", site.asks("advice", _place, policy=OURS)),
            Route("/page", site.page),
            Route("/table", site.table),
            Route("/report", site.asks("report", policy=PICTURES)),
            Route("/plot", site.plot),
        ],
        exception_handlers={
            RollwiseError: _refused,
            HTTPException: _unfit,
            NotSolved: site.wait,
        },
        lifespan=life,
    )
    app.state.site = site
    app.add_middleware(Guard, hosts=hosts, rate=limits.rate)
    return app


class _Site:
    def __init__(self, offered: Offered, workers: Workers, history: Path | None) -> None:
        self._offered = offered
        self.workers = workers
        self.history = history

    @property
    def offered(self) -> Offered:
        """The games; changed rule sheets were read again, and answers of old rules forgotten."""
        self.workers.forget(self._offered.refresh())
        return self._offered

    async def games(self, request: Request) -> Response:
        return _json(encode(games_document(self.offered.kinds.values())))

    async def game(self, request: Request) -> Response:
        name = request.path_params["name"]
        return _json(encode(games_document([self.offered.kind(name)]).games[0]))

    async def begin(self, request: Request) -> Response:
        wanted = _wanted(await _body(request))
        worker = self.workers.begin(self.offered.game(*wanted))
        return _status(worker, key=worker.key_for_a_client())

    async def status(self, request: Request) -> Response:
        worker = self.workers.held(_asked(request))
        if worker is None:
            raise NotSolved(f"{_asked(request).name} isn't solved; POST /api/solve solves it")
        return _status(worker)

    async def stop(self, request: Request) -> Response:
        self.workers.give_up(_asked(request), _query(request, "key"))
        return Response(status_code=204)

    def asks(
        self,
        name: str,
        parts: Callable[[Request], dict[str, Any]] = lambda request: {},
        policy: str | None = None,
        **words: str | None,
    ) -> Callable[[Request], Awaitable[Response]]:
        """A route with one question to the worker of a game, answered with the worker's text.

        Parameters
        ----------
        parts : callable
            The parts of the question, from a request.
        policy : str, optional
            The content security policy of a page. Other answers are JSON.
        **words
            Query parameters passed on unchanged, with their defaults.
        """

        async def answer(request: Request) -> Response:
            told = {
                word: (_query(request, word) or usual) if usual else _query(request, word)
                for word, usual in words.items()
            }
            text = await self._ask(request, {"ask": name, **parts(request), **told})
            return _json(text) if policy is None else _html(_with_home(request, text), policy)

        return answer

    async def sheets(self, request: Request) -> Response:
        offered = self.offered
        return JSONResponse({"own": offered.own, "faults": offered.faults})

    async def start(self, request: Request) -> Response:
        """The board of the start, before the game is solved."""
        return _json(encode(await asyncio.to_thread(start_document, _asked(request))))

    async def wait(self, request: Request, error: Exception) -> Response:
        """A page that has an unsolved game solved, and goes on."""
        if not _is_person(request):
            return await _refused(request, error)
        game = _asked(request)
        query = html.escape(request.url.query)
        about = html.escape(game.description.partition("\n")[0])
        shorter = "".join(
            f" <a class='button' href='page?{html.escape(_query_of(game.name, chosen))}'>"
            f"Play the {html.escape(name)} game meanwhile</a>"
            for name, chosen in game.presets.items()
            if name == "short" and not chosen.items() <= game.parameters.items()
        )
        body = (
            f"<div class='panel'><p>{about}</p><div id='start'></div>"
            f"<p id='wait' role='status' data-game='{query}'>This game isn't solved yet.</p>"
            "<progress id='bar' aria-label='Progress'></progress>"
            f"<p class='tools'><button id='again' hidden>Try again</button>{shorter}</p>"
            "<noscript><p>This page needs JavaScript, which is turned off here.</p></noscript>"
            "</div>"
            "<script type='module' src='serve.js'></script>"
        )
        return _html(_shell(request, game.heading, body), OURS, status=202)

    async def table(self, request: Request) -> Response:
        part, where = _rows(request), _query(request, "where")
        pairs = request.query_params.multi_items()
        chosen = {name: text for name, text in pairs if name.startswith(FIELD) and text}
        conditions = [f"({where})"] if where else []
        for name, text in chosen.items():
            if not re.fullmatch(r"-?[0-9]{1,9}", text):
                raise UsageError(
                    f"{name.removeprefix(FIELD)} must be a whole number: {text[:40]!r}"
                )
            conditions.append(f"{name.removeprefix(FIELD)} == {text}")
        question = {"ask": "table_rows", **part, "where": " and ".join(conditions) or None}
        found = json.loads(await self._ask(request, question))
        query = [pair for pair in pairs if pair[0] in KEPT]
        body = _table_body(found, part, where or "", chosen, query)
        return _html(_shell(request, _asked(request).heading, body), OURS, "'self'")

    async def boards(self, request: Request) -> Response:
        """The boards of those rows of fields that are positions."""
        body = await _body(request, MOST_RECORD)
        rows = body.get("rows") if isinstance(body, dict) else None
        if (
            not isinstance(rows, list)
            or not all(map(_is_row, rows))
            or len(set(map(len, rows))) != 1
        ):
            raise UsageError('the body must be like {"rows": [[3, 2, 0], [4, 2, 0]]}')
        return _json(await self._ask(request, {"ask": "boards", "rows": rows}))

    async def keep(self, request: Request) -> Response:
        if self.history is None:
            raise UsageError("this server keeps no games; rollwise serve --history FILE does")
        record = json.dumps(await _body(request, MOST_RECORD))
        question = {"ask": "keep", "record": record, "history": str(self.history)}
        return _json(await self._ask(request, question, is_remembered=False), 201)

    async def page(self, request: Request) -> Response:
        is_file = _query(request, "file") == "yes"
        rules = self.offered.rules_of(_asked(request).name)
        keeps = self.history is not None
        question = {"ask": "page", "keeps": keeps, "file": is_file, "rules": rules}
        text = await self._ask(request, question)
        return _html(text if is_file else _with_home(request, text), COACH)

    async def plot(self, request: Request) -> Response:
        """A picture, with links to the others of the game; the first one unless a kind is asked."""
        fitting = json.loads(await self._ask(request, {"ask": "kinds"}))
        kind = _query(request, "kind") or next(iter(fitting), "policy")
        request.state.links = _kinds(request, fitting, kind)
        words = {name: _query(request, name) for name in ("x", "y", "where", "state")}
        text = await self._ask(request, {"ask": "plot", "kind": kind, **words})
        return _html(_with_home(request, text), PICTURES)

    async def _ask(
        self, request: Request, question: dict[str, Any], *, is_remembered: bool = True
    ) -> str:
        """The answer of the worker of a game; a page that was made by other rules gets none."""
        game, rules = _asked(request), _query(request, "rules")
        if rules is not None and rules != self._offered.rules_of(game.name):
            raise RulesChanged(f"the rules of {game.name} have changed; load the page again")
        return await self.workers.solved(game).ask(question, is_remembered=is_remembered)


def _asked(request: Request) -> Game:
    """The game of a request, by the rules of now."""
    if not hasattr(request.state, "game"):
        values = read_values(request.query_params.getlist("parameter"))
        site: _Site = request.app.state.site
        request.state.game = site.offered.game(_query(request, "game") or "", values)
    game: Game = request.state.game
    return game


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
    except ClientDisconnect:
        raise HTTPException(400, "the client left before the end of the body") from None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise UsageError("the body isn't JSON") from None


def _wanted(body: Any) -> tuple[str, dict[str, str]]:
    """The game and the parameters in a request's body."""
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
    """The position of a request, with its throw."""
    throw, left = _query(request, "throw"), _query(request, "rolls_left")
    numbers = None if throw is None else read_numbers(throw)
    if throw is not None and not numbers:
        raise UsageError(f"throw must be whole numbers, as in 3,5, not {throw[:40]!r}")
    return {
        "state": _query(request, "state"),
        "throw": numbers,
        "rolls_left": None if left is None else _number(left, "rolls_left"),
    }


def _rows(request: Request) -> dict[str, Any]:
    """The range of table rows of a request."""
    return {
        "limit": _number(_query(request, "limit") or "100", "limit"),
        "offset": _number(_query(request, "offset") or "0", "offset"),
    }


def _is_row(row: Any) -> bool:
    """Whether a part of a body is the fields of a position."""
    return isinstance(row, list) and all(type(x) is int and abs(x) < 2**31 for x in row)


def _number(text: str, what: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise UsageError(f"{what} must be a whole number from 0, not {text[:40]!r}")
    return int(text)


def _file(name: str, kind: str, room: str = "serve") -> Callable[[Request], Awaitable[Response]]:
    text = resource(room, name)

    async def answer(request: Request) -> Response:
        return Response(text, media_type=kind)

    return answer


def _status(worker: Worker, **more: Any) -> Response:
    return _json(encode(worker.status() | more), 202 if worker.is_solving else 200)


def _json(text: str, status: int = 200) -> Response:
    return Response(text, status, media_type="application/json")


def _html(text: str, policy: str, forms: str = "'none'", status: int = 200) -> Response:
    headers = {"content-security-policy": policy + END.format(forms)}
    return Response(text, status, media_type="text/html", headers=headers)


def _kinds(request: Request, fitting: Sequence[str], shown: str) -> str:
    """Links to the kinds of pictures of a game."""
    kept = [pair for pair in request.query_params.multi_items() if pair[0] in KEPT]
    links = (
        f"<b>{kind}</b>"
        if kind == shown
        else f"<a href='plot?{html.escape(urlencode([*kept, ('kind', kind)]))}'>{kind}</a>"
        for kind in fitting
    )
    return f"<p>Pictures: {', '.join(links)}</p>"


def _links(request: Request) -> str:
    """The links to other pictures, on the page of one; else empty."""
    return str(getattr(request.state, "links", ""))


def _home(request: Request) -> str:
    """The link to the start page, with the game and its parameters."""
    query = html.escape(request.url.query)
    return f"<p class='home'><a href='./{query and '#'}{query}'>All games</a></p>"


def _with_home(request: Request, page: str) -> str:
    """A page with the link home in its header; a picture has none, and gets it above."""
    if "<header>" in page:
        return page.replace("<header>", f"<header>{_home(request)}", 1)
    return page.replace(
        "<body>",
        f"<body>\n<div style='margin: 8px 16px'>{_home(request)}{_links(request)}</div>",
        1,
    )


def _shell(request: Request, title: str, body: str) -> str:
    """A small page in the style of the start page."""
    styles = (f'<link rel="stylesheet" href="/{name}.css">\n' for name in ("page", "serve"))
    header = f"<header>{_home(request)}<h1>{html.escape(title)}</h1></header>"
    return shell(title, "".join(styles), f"{header}\n<main>{body}</main>")


def _table_body(
    found: dict[str, Any],
    part: dict[str, Any],
    where: str,
    chosen: dict[str, str],
    query: list[tuple[str, str]],
) -> str:
    """The rows of a table, a form to choose some, and links to those before and after."""
    n, total, offset = found["n"], found["total"], part["offset"]
    hidden = "".join(
        f"<input type='hidden' name='{html.escape(name)}' value='{html.escape(value)}'>"
        for name, value in query
    )
    inputs = "".join(
        f"<div class='control'><label for='{name}'>{name.removeprefix(FIELD)}</label>"
        f"<input id='{name}' name='{name}' inputmode='numeric' placeholder='any' "
        f"value='{chosen.get(name, '')}'></div>"
        for name in (html.escape(FIELD + field) for field in found["fields"])
    )
    form = (
        f"<form>{hidden}<div class='controls'>{inputs}<div class='control wide'><label for='where'>"
        f"A condition</label> <input id='where' name='where' value='{html.escape(where)}' "
        f"placeholder='{html.escape(found['fields'][0])} >= 1'></div></div>"
        "<p class='tools'><button class='main'>Show</button></p></form>"
    )
    links = []
    query = [*query, *chosen.items(), *([("where", where)] if where else [])]
    step = max(part["limit"], 1)
    for text, place in (("Before", offset - step), ("After", offset + n)):
        if -step < place < total:
            words = urlencode([*query, ("offset", str(max(place, 0)))])
            links.append(f"<a class='button' href='table?{html.escape(words)}'>{text}</a>")
    said = f"Rows {offset + 1:,} to {offset + n:,} of {total:,}" if n else "No row fits"
    table = f"<div class='figures'>{found['html']}</div>" if n else ""
    return f"{form}<p>{said}.</p>{table}<p class='tools'>{' '.join(links)}</p>"


def _is_person(request: Request) -> bool:
    """Whether the request wants a page."""
    return "text/html" in request.headers.get("accept", "")


def _query_of(game: str, parameters: Mapping[str, Any]) -> str:
    """The address of a game with these parameters."""
    chosen = [("parameter", f"{name}={typed(value)}") for name, value in parameters.items()]
    return urlencode([("game", game), *chosen])


def _error(message: str, status: int) -> Response:
    return JSONResponse({"error": message}, status)


def _mistake(request: Request, message: str, status: int) -> Response:
    """An error as JSON, or as a page for a person who follows a link."""
    if not _is_person(request):
        return _error(message, status)
    try:
        title = _asked(request).heading
    except RollwiseError:
        title = "Dice games, solved"
    body = f"{_links(request)}<p>{html.escape(message)}</p>"
    return _html(_shell(request, title, body), OURS, status=status)


async def _unfit(request: Request, error: Exception) -> Response:
    """No such address, a wrong method, or a body that is too long, late or of another type."""
    assert isinstance(error, HTTPException)
    path, allowed, message = request.url.path, "", error.detail
    if error.status_code == 404:
        more = ", and /api/games lists the games" if path.startswith("/api") else ""
        message = f"there is no {path[:80]} here; / has the pages{more}"
    elif error.status_code == 405:
        # several routes may share the path, with a method each
        fitting = (r for r in request.app.routes if r.matches(request.scope)[0] is Match.PARTIAL)
        allowed = ", ".join(sorted({method for route in fitting for method in route.methods}))
        message = f"{path} doesn't take {request.method[:20]}; it takes {allowed}"
    answer = _mistake(request, message, error.status_code)
    if allowed:
        answer.headers["allow"] = allowed
    return answer


async def _refused(request: Request, error: Exception) -> Response:
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 400)
    return _mistake(request, " ".join(str(error).split())[:800], status)
