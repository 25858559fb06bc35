"""The processes of a server that solve games, within limits of number, memory and time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rollwise.errors import RollwiseError
from rollwise.game import Game
from rollwise.serve.offered import Key, Offered, key_of

LONGEST_LINE = 64_000_000  # bytes of an answer; a report has some
MOST_REMEMBERED = 64_000_000  # characters of answers to a game's questions
MOST_KEYS = 1000  # clients with a key of the same game
MOST_WAITING = 20  # slow questions about a game
IDLE = 60.0  # seconds after which a process for slow questions ends
LOOK = 1.0  # seconds between two looks at the memory of all processes
ENDED = "the process that solves the game has ended; out of memory perhaps"
SLOW = (
    "opponents",
    "report",
    "plot",
)  # questions of seconds to minutes; a page in one file is one, too


class Busy(RollwiseError):
    """The server has as much to do as it may."""


class NotYours(RollwiseError):
    """A client without a key asked to stop a game."""


class NotSolved(RollwiseError):
    """A question about an unsolved game."""


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
        except asyncio.CancelledError:
            self.error = self.error or "stopped"
            raise
        finally:
            if self.document is None or self.error:
                self.error = self.error or ENDED
                self.stop()
        if not self.error:
            self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        """Record its unexpected end."""
        assert self._process is not None
        await self._process.wait()
        self.error = self.error or ENDED

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
        if not line:
            self.error = self.error or ENDED
            return {}
        heard: dict[str, Any] = json.loads(line)
        return heard

    async def ask(self, question: dict[str, Any]) -> str:
        """The answer to a question, as text.

        Raises
        ------
        NotSolved
            The process has ended.
        Busy
            The answer took too long, and the process was ended.
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
            raise RollwiseError(said["error"])
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
            The answer is always the same, and asking has no other effect.
        """
        name = json.dumps(question, sort_keys=True)
        if is_remembered and name in self._known:
            self._known.move_to_end(name)
            return self._known[name]
        # it continues after the client has gone, so that answers stay with their questions
        asking = asyncio.shield(asyncio.ensure_future(self._asked(question)))
        body = await asking
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
