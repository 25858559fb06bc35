"""The games of a server, and the processes that solve them, within limits of number, memory and
time.

The games are fixed at the start: no request names a file.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import hashlib
import json
import logging
import os
import secrets
import signal
import sys
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from rollwise.documents.games import games_document
from rollwise.documents.model import encode
from rollwise.errors import RollwiseError, UnknownGame, UsageError
from rollwise.faults import PASSED_ON, fault_text
from rollwise.game import Game
from rollwise.games import available, create, find, names_a_file
from rollwise.machine.neighbours import files_read

Key = tuple[str, tuple[tuple[str, str], ...]]  # a game and its parameters, as typed


@dataclass
class Offered:
    """Games by name, and saved solutions of them.

    Attributes
    ----------
    kinds : dict
        The rules, by the name of the game.
    references : dict
        References to the same rules, for a worker.
    saved : dict
        Files of solutions, and folders of layers.
    faults : dict
        The errors of rule sheets that are left out, by file and class.
    names : sequence of str
        The arguments of `offer`.
    """

    kinds: dict[str, type[Game]]
    references: dict[str, str]
    saved: dict[Key, Path] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    names: Sequence[str] = ()
    _files: dict[str, frozenset[Path]] = field(default_factory=dict)  # of the rules, by name
    _stamps: dict[Path, float] = field(default_factory=dict)
    _contents: dict[Path, bytes] = field(default_factory=dict)  # hashes

    def __post_init__(self) -> None:
        self._note_files({}, {})

    def _note_files(self, stamps: Mapping[Path, float], contents: Mapping[Path, bytes]) -> None:
        """Note the files of the rules; those known before they were read as they were then."""
        for name in self.own:
            sheet, _, _ = self.kinds[name].__module__.partition(".")
            self._files[name] = files_read(sheet)
        self._stamps.update(_stamps(self.names, self._files) | dict(stamps))
        self._contents.update(_contents(self._stamps) | dict(contents))

    @property
    def own(self) -> list[str]:
        """The names of the games with rule sheets of their own."""
        return [name for name, reference in self.references.items() if names_a_file(reference)]

    def refresh(self) -> list[str]:
        """Read changed rule sheets again; the names of games with other rules than before.

        The modules that a rule sheet imports from its folder are a part of it.
        """
        stamps = _stamps(self.names, self._files)
        if stamps == self._stamps:
            return []
        contents = _contents(stamps)
        changed = {path for path, _ in contents.items() ^ self._contents.items()}
        before, files = self.kinds, dict(self._files)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the start page shows the faults
            self.kinds, self.references, self.faults = _entered(self.names, is_start=False)
        self._stamps, self._contents = {}, {}
        self._note_files(stamps, contents)
        return [
            name
            for name, kind in before.items()
            if _rules(self.kinds.get(name)) != _rules(kind)
            or changed & files.get(name, frozenset())
        ]

    def rules_of(self, name: str) -> str:
        """A hash of the files with the rules of a game; empty for a game of the gallery."""
        contents = [self._contents.get(path, b"") for path in sorted(self._files.get(name, ()))]
        return hashlib.blake2b(b"".join(contents), digest_size=8).hexdigest() if contents else ""

    def kind(self, name: str) -> type[Game]:
        """The rules of a name.

        Raises
        ------
        UnknownGame
        """
        if not name:
            raise UnknownGame("which game? Write game=NAME (/api/games lists them)")
        if name not in self.kinds:
            raise UnknownGame(
                f"no game is called {name!r} here (/api/games lists them{self._hint})"
            )
        return self.kinds[name]

    @property
    def _hint(self) -> str:
        """Where a game may be missing for an error of its rule sheet."""
        left_out = ", ".join(self.faults)
        return f"; the start page shows the errors of {left_out}" if left_out else ""

    def game(self, name: str, values: dict[str, str]) -> Game:
        """The game of a request.

        Raises
        ------
        UnknownGame, ParameterError
        """
        return create(self.kind(name), values, rated=False)


def key_of(game: Game) -> Key:
    """A key of the game and its parameters."""
    return game.name, tuple(sorted((name, str(x)) for name, x in game.parameters.items()))


def offer(names: Sequence[str], solutions: Path | None = None) -> Offered:
    """The games of these names; without any, the rule sheets of this folder and the gallery.

    An unreadable rule sheet of this folder, or one with the name of another one, is omitted
    with a warning, and the start page shows its error. A game of the gallery gives way to a rule
    sheet with its name.

    Raises
    ------
    UnknownGame, UsageError
        An unreadable game, or two of the same name.
    """
    kinds, known, faults = _entered(names, is_start=True)
    saved = {} if solutions is None else _saved(solutions, kinds)
    return Offered(kinds, known, saved, faults, names)


def _entered(
    names: Sequence[str], *, is_start: bool
) -> tuple[dict[str, type[Game]], dict[str, str], dict[str, str]]:
    """The rules and references of games by name, and the faults of omitted rule sheets."""
    kinds: dict[str, type[Game]] = {}
    known: dict[str, str] = {}
    faults: dict[str, str] = {}
    for reference in names or (*own_sheets(Path()), *available(), *available(hidden=True)):
        if reference in kinds:  # a rule sheet has the name of this game
            continue
        try:
            _enter(reference, kinds, known)
        except RollwiseError as error:
            if names and is_start:
                raise
            faults[reference] = " ".join(str(error).split())
            warnings.warn(f"{reference} is left out: {error}", stacklevel=2)
    return kinds, known, faults


def _rules(kind: type[Game] | None) -> tuple[str, str]:
    """The module of a game, whose name is made from the contents of its file, and its class."""
    return ("", "") if kind is None else (kind.__module__, kind.__qualname__)


def _stamps(names: Sequence[str], read: Mapping[str, frozenset[Path]]) -> dict[Path, float]:
    """The times of the last changes of all rule sheets, and of the files read for games."""
    files = [Path(name.rpartition(":")[0] or name) for name in names if names_a_file(name)]
    found = {}
    sheets = files or (() if names else Path().glob("*.py"))
    for path in {*sheets, *chain.from_iterable(read.values())}:
        with contextlib.suppress(OSError):
            found[path.resolve()] = path.stat().st_mtime
    return found


def _contents(paths: Iterable[Path]) -> dict[Path, bytes]:
    """A hash of the contents of files; unreadable ones have none."""
    found = {}
    for path in paths:
        with contextlib.suppress(OSError):
            found[path] = hashlib.blake2b(path.read_bytes()).digest()
    return found


def _enter(reference: str, kinds: dict[str, type[Game]], known: dict[str, str]) -> None:
    """Register a game, and its reference for a worker."""
    if "=" in reference and not reference.endswith(".py"):
        raise UsageError(
            f"{reference} isn't a game; parameters are chosen in the browser, so name the "
            "games alone, as in rollwise serve pig"
        )
    kind = find(reference)
    _require_listed(kind, reference)
    name = kind.name
    if kinds.get(name, kind) is not kind:
        raise UsageError(
            f"{known[name]} and {reference} have the same name, {name!r}; "
            "name the games to serve, as in rollwise serve pig"
        )
    kinds[name] = kind
    path, colon, class_name = reference.rpartition(":")
    known[name] = f"{Path(path).resolve()}:{class_name}" if colon else reference


def _require_listed(kind: type[Game], reference: str) -> None:
    """Refuse a game without a valid description for the list of games."""
    try:
        encode(games_document([kind]))
        if not isinstance(kind.name, str):
            raise TypeError("its name isn't a text")
    except PASSED_ON:
        raise
    except Exception as error:
        raise UnknownGame(f"{reference} can't be listed: {fault_text(error)}") from error


def own_sheets(folder: Path) -> list[str]:
    """The rule sheets of a folder: files with a subclass of ``Game`` or of a game.

    A file that names rollwise or ``Game`` and can't be parsed counts too.
    """
    found = []
    for path in sorted(folder.glob("*.py")):
        text = b""
        with contextlib.suppress(OSError):
            text = path.read_bytes()
        try:
            # a sheet is recognized by its text: nothing of it runs before it is offered
            body = ast.parse(text).body
        except (SyntaxError, ValueError):
            is_sheet = b"(Game)" in text or b"rollwise" in text
            found += [str(path)] if is_sheet else []
            continue
        games = {"Game"}  # names of their classes
        for node in body:
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("rollwise.games."):
                games |= {alias.asname or alias.name for alias in node.names}
            if isinstance(node, ast.ClassDef) and any(_is_game(base, games) for base in node.bases):
                games.add(node.name)
                found.append(f"{path}:{node.name}")
    return found


def _is_game(base: ast.expr, games: set[str]) -> bool:
    name = getattr(base, "id", getattr(base, "attr", ""))
    return name in games or ast.unparse(base).startswith("rollwise.")


def _saved(folder: Path, kinds: dict[str, type[Game]]) -> dict[Key, Path]:
    """The solutions of these games in a folder: files, and folders of layers.

    Other files are ignored.
    """
    from rollwise.answer.layer_folder import read_manifest
    from rollwise.answer.storage import read_facts, typed_parameters

    if not folder.is_dir():
        raise UsageError(f"--solutions {folder}: there is no such folder")
    found = {}
    for path in sorted(folder.iterdir()):
        if not path.is_dir() and path.suffix != ".parquet":
            continue
        with contextlib.suppress(RollwiseError):
            facts = read_manifest(path) if path.is_dir() else read_facts(path)
            if facts["game"] in kinds:
                game = create(kinds[facts["game"]], typed_parameters(facts))
                found[key_of(game)] = path.resolve()
    return found


LONGEST_LINE = 64_000_000  # bytes of an answer; a report has some
MOST_REMEMBERED = 64_000_000  # characters of answers to a game's questions
MOST_KEYS = 1000  # clients with a key of the same game
MOST_WAITING = 20  # slow questions about a game
IDLE = 60.0  # seconds after which a process for slow questions ends
LOOK = 1.0  # seconds between two looks at the memory of all processes
SLOW = (
    "opponents",
    "report",
    "kinds",
    "plot",
)  # questions of seconds to minutes; a page in one file is one, too


LOG = logging.getLogger(__name__)


class Failed(RollwiseError):
    """An unexpected error in the process of a game."""


class Busy(RollwiseError):
    """The server has as much to do as it may."""


class NotYours(RollwiseError):
    """A client without a key asked to stop a game."""


class NotSolved(RollwiseError):
    """A question about an unsolved game."""


class RulesChanged(RollwiseError):
    """A question of a page that was made by other rules."""


@dataclass(frozen=True)
class Limits:
    """The limits of a server.

    Attributes
    ----------
    seconds : float
        For solving a game, and for each answer.
    memory : int
        Bytes of addresses, for each process of a game.
    total : int
        Bytes of memory of all processes together, where the system reports them (Linux).
    games : int
        Games held at once; the least recently requested game gives way.
    solving : int
        Games being solved at once.
    rate : float
        Requests per second from one address, in the long run.
    """

    seconds: float = 600.0
    memory: int = 4_000_000_000
    total: int = 16_000_000_000
    games: int = 8
    solving: int = 2
    rate: float = 500.0


class Process:
    """A process that solves a game, and then answers questions, one after the other.

    Attributes
    ----------
    document : dict or None
        The solution, once it is there.
    error : str
        The reason for its end; empty while it runs.
    waiting, answered : int
        Numbers of open and of answered questions.
    """

    def __init__(self, first: dict[str, Any], limits: Limits) -> None:
        self._first, self._limits = first, limits
        self.stage, self.done, self.total = "starting", 0, None
        self.document: dict[str, Any] | None = None
        self.error = ""
        self.waiting = self.answered = 0
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._solving = asyncio.create_task(self._solve())

    @property
    def memory(self) -> int:
        """Its bytes in memory, without mapped files; 0 where the system doesn't report them."""
        if self._process is None or self._process.returncode is not None:
            return 0
        try:
            with open(f"/proc/{self._process.pid}/statm", encoding="ascii") as file:
                _, resident, shared, *_ = map(int, file.read().split())
        except (OSError, ValueError):
            return 0
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE")

    async def _solve(self) -> None:
        try:
            async with asyncio.timeout(self._limits.seconds):
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable, "-P", "-m", "rollwise.serve.worker",  # without this folder
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,
                    limit=LONGEST_LINE,
                    start_new_session=True,
                )  # fmt: skip
                said = await self._exchange(self._first)
                while "stage" in said:
                    self.stage, self.done, self.total = said["stage"], said["done"], said["total"]
                    said = await self._heard()
            self.error = self.error or said.get("error", "")
            self.document = said.get("solved")
        except TimeoutError:
            self.error = (
                f"not solved within {self._limits.seconds:g} seconds; smaller parameters help, "
                "or rollwise serve --time-limit"
            )
        except OSError as error:
            self.error = f"no process can be started: {error}"
        finally:
            if self.document is None or self.error:
                self.stop()
        if not self.error:
            self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        """Record its unexpected end."""
        assert self._process is not None
        code = await self._process.wait()
        self.error = self.error or f"the process of this game {_ending(code)}"

    async def _exchange(self, message: Any) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(ConnectionError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            await self._process.stdin.drain()
        return await self._heard()

    async def _heard(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            line = await self._process.stdout.readline()
        except ValueError:
            line = b""
            self.stop(f"an answer had more than {LONGEST_LINE:,} bytes")
        if not line.endswith(b"\n"):
            await self._watch()
            return {}
        heard: dict[str, Any] = json.loads(line)
        if "traceback" in heard:
            LOG.error("%s", heard["traceback"])
        return heard

    async def ask(self, question: dict[str, Any]) -> str:
        """The answer to a question, as text.

        Raises
        ------
        NotSolved
            The process has ended.
        Busy
            The answer took too long, and the process was ended.
        Failed
            An error in the process.
        RollwiseError
            The question is wrong.
        """
        self.waiting += 1
        try:
            await asyncio.wait([self._solving])
            async with self._turn:
                self._require()
                try:
                    async with asyncio.timeout(self._limits.seconds):
                        said = await self._exchange(question)
                except TimeoutError:
                    self.stop(f"no answer within {self._limits.seconds:g} seconds")
                    raise Busy(self.error) from None
        finally:
            self.waiting -= 1
            self.answered += 1
        if "error" in said:
            raise (Failed if "traceback" in said else RollwiseError)(said["error"])
        if "body" not in said:
            self._require()
        return str(said["body"])

    def _require(self) -> None:
        if self.error:
            raise NotSolved(f"{self.error}; POST /api/solve solves the game again")

    def stop(self, why: str = "") -> None:
        """End the process."""
        if self.document is None and not self.error:
            self._solving.cancel()
        self.error = self.error or why or "stopped"
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def end(self) -> None:
        """End the process, and wait until it has."""
        self.stop()
        await asyncio.gather(self._solving, return_exceptions=True)
        self.stop()
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            await self._process.communicate()
            with contextlib.suppress(ConnectionError):
                await self._process.stdin.wait_closed()


def _ending(code: int) -> str:
    """How a process ended, by its exit code; negative for a signal."""
    if code >= 0:
        return f"has ended with the exit code {code}"
    name = signal.Signals(-code).name
    # the system kills a process without memory, and libraries without memory abort it
    memory = "; out of memory perhaps" if name in ("SIGKILL", "SIGABRT") else ""
    return f"was ended by {name}{memory}"


class Worker:
    """One game and its processes: one for quick questions, and one for slow questions.

    The second process runs while there are slow questions. It solves the game too, or reads the
    saved solution of the first process.
    """

    def __init__(
        self,
        key: Key,
        reference: str,
        saved: str | None,
        limits: Limits,
        took: dict[Key, float] | None = None,
    ) -> None:
        self.key = key
        self._took = {} if took is None else took  # seconds of earlier solutions
        self.limits = limits
        self.started = time.monotonic()
        self._first = {
            "game": reference,
            "parameters": dict(key[1]),
            "saved": saved,
            "memory": limits.memory,
        }
        self._keys: set[str] = set()
        self._known: OrderedDict[str, str] = OrderedDict()
        self._underway: dict[str, asyncio.Future[str]] = {}
        self._remembered = 0
        self._slow: Process | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self.process = Process(self._first, limits)

    @property
    def error(self) -> str:
        return self.process.error

    @property
    def is_solving(self) -> bool:
        return self.process.document is None and not self.error

    @property
    def memory(self) -> int:
        """See `Process.memory`."""
        return self.process.memory + (0 if self._slow is None else self._slow.memory)

    def status(self) -> dict[str, Any]:
        """How far it is."""
        state = "failed" if self.error else "solving" if self.is_solving else "solved"
        head: dict[str, Any] = {
            "game": self.key[0],
            "parameters": dict(self.key[1]),
            "state": state,
        }
        if self.error:
            return head | {"error": self.error}
        seconds = round(time.monotonic() - self.started, 1)
        if self.process.document is not None:
            self._took.setdefault(self.key, seconds)
            return head | {"solution": self.process.document}
        at = self.process
        head |= {"stage": at.stage, "done": at.done, "total": at.total, "seconds": seconds}
        return head | ({"took": self._took[self.key]} if self.key in self._took else {})

    def key_for_a_client(self) -> str | None:
        """A new client's key for stopping the game; None with too many clients."""
        if len(self._keys) >= MOST_KEYS:
            return None
        key = secrets.token_urlsafe(12)
        self._keys.add(key)
        return key

    def give_up(self, key: str | None) -> bool:
        """Take a client's key back. Return whether it was the last one.

        Raises
        ------
        NotYours
        """
        if key not in self._keys:
            raise NotYours(
                "only clients who asked for this game can stop it: "
                "DELETE /api/solve?GAME&key=KEY with the key that POST /api/solve gave"
            )
        self._keys.remove(key)
        return not self._keys

    async def ask(self, question: dict[str, Any], *, is_remembered: bool = True) -> str:
        """The answer to a question, as text (see `Process.ask`).

        Parameters
        ----------
        is_remembered : bool
            The answer is always the same, and asking has no other effect. Clients with the same
            question share its answer.
        """
        name = json.dumps(question, sort_keys=True)
        if is_remembered and name in self._known:
            self._known.move_to_end(name)
            return self._known[name]
        asking = self._underway.get(name) if is_remembered else None
        if asking is None:
            asking = asyncio.ensure_future(self._asked(question))
            if is_remembered:
                self._underway[name] = asking
                asking.add_done_callback(lambda _: self._underway.pop(name))
        # it continues after the client has gone, so that answers stay with their questions
        body = await asyncio.shield(asking)
        if is_remembered:
            self._remember(name, body)
        return body

    async def _asked(self, question: dict[str, Any]) -> str:
        if question["ask"] not in SLOW and not question.get("file"):
            return await self.process.ask(question)
        if self._slow is not None and self._slow.error:
            self._drop(self._slow)
        if self._slow is None:
            self._slow = Process(self._first, self.limits)
        slow = self._slow
        if slow.waiting >= MOST_WAITING:
            raise Busy("too many reports and pictures of this game are asked for; try again later")
        try:
            return await slow.ask(question)
        except NotSolved as error:  # the game is, by the other process
            raise Busy(slow.error or str(error)) from None
        finally:
            asyncio.get_running_loop().call_later(IDLE, self._end_slow, slow, slow.answered)

    def _end_slow(self, slow: Process, answered: int) -> None:
        """End the process for slow questions, unless a new question came since."""
        if self._slow is slow and not slow.waiting and slow.answered == answered:
            self._drop(slow)

    def _drop(self, slow: Process) -> None:
        """End the process for slow questions."""
        self._slow = None
        task = asyncio.ensure_future(slow.end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _remember(self, name: str, body: str) -> None:
        before = self._known.pop(name, "")
        self._known[name] = body
        self._remembered += len(body) - len(before)
        # the answers asked for longest ago go first
        while self._remembered > MOST_REMEMBERED:
            self._remembered -= len(self._known.popitem(last=False)[1])

    def stop(self, why: str = "") -> None:
        """End the processes."""
        self.process.stop(why)
        if self._slow is not None:
            self._slow.stop(why)

    async def end(self) -> None:
        """End the processes, and wait until they have."""
        for process in (self.process, self._slow):
            if process is not None:
                await process.end()
        await asyncio.gather(*self._ending)


class Workers:
    """The games solved or being solved, the most recently requested at the end."""

    def __init__(self, offered: Offered, limits: Limits) -> None:
        self.offered = offered
        self.limits = limits
        self._held: OrderedDict[Key, Worker] = OrderedDict()
        self._took: dict[Key, float] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def held(self, game: Game) -> Worker | None:
        """The game's worker, if there is one."""
        key = key_of(game)
        if key in self._held:
            self._held.move_to_end(key)
        return self._held.get(key)

    def solved(self, game: Game) -> Worker:
        """The worker of a solved game.

        Raises
        ------
        NotSolved
        """
        worker = self.held(game)
        if worker is None or worker.is_solving or worker.error:
            why = f" ({worker.error})" if worker is not None and worker.error else ""
            raise NotSolved(f"{game.name} isn't solved here yet{why}; POST /api/solve solves it")
        return worker

    def begin(self, game: Game) -> Worker:
        """Solve a game, if it isn't under way.

        Raises
        ------
        Busy
        """
        worker = self.held(game)
        if worker is not None and not worker.error:
            return worker
        if sum(one.is_solving for one in self._held.values()) >= self.limits.solving:
            raise Busy(f"{self.limits.solving} games are being solved already; try again later")
        if worker is not None:
            self._forget(worker.key)
        # a game being solved isn't ended for a new one
        while len(self._held) >= self.limits.games:
            oldest = next(key for key, one in self._held.items() if not one.is_solving)
            self._forget(oldest)
        key = key_of(game)
        saved = self.offered.saved.get(key)
        worker = Worker(
            key,
            self.offered.references[key[0]],
            None if saved is None else str(saved),
            self.limits,
            self._took,
        )
        self._held[key] = worker
        return worker

    def forget(self, names: Sequence[str]) -> None:
        """Stop the processes of games whose rules have changed."""
        for key in [key for key in self._held if key[0] in names]:
            self._forget(key)

    def give_up(self, game: Game, key: str | None) -> None:
        """Stop a game's processes and forget it, if none but this client asked for it.

        Raises
        ------
        NotYours
        """
        worker = self._held.get(key_of(game))
        if worker is not None and worker.give_up(key):
            self._forget(worker.key)

    async def watch_memory(self) -> None:
        """End games while all processes together hold too much memory, without end."""
        while True:
            await asyncio.sleep(LOOK)
            self.free_memory()

    def free_memory(self) -> None:
        """End games: the least recently requested first, and games being solved last."""
        used = {worker: worker.memory for worker in self._held.values()}
        # `_held` is in the order of the last requests, and sorting keeps it among solved games
        for worker in sorted(used, key=lambda one: one.is_solving):
            if sum(used.values()) <= self.limits.total:
                break
            if used.pop(worker):
                worker.stop(
                    f"all games together took more than {self.limits.total / 1e9:g} GB; try again "
                    "later, or rollwise serve --total-memory"
                )

    def _forget(self, key: Key) -> None:
        task = asyncio.create_task(self._held.pop(key).end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Stop all, and wait until they have ended."""
        for key in list(self._held):
            self._forget(key)
        await asyncio.gather(*self._ending, return_exceptions=True)
