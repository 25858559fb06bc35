"""The processes that solve games for a server: how many, how large, how long."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from rollwise.documents.parts import Document
from rollwise.errors import RollwiseError
from rollwise.game import Game
from rollwise.serve.offered import Key, Offered, key_of

LONGEST_LINE = 64_000_000  # bytes of an answer; a report has some
MOST_ANSWERS = 4096  # that a worker's questions are remembered


class Busy(RollwiseError):
    """The server has as much to do as it may."""


class NotSolved(RollwiseError):
    """A question about a game that isn't solved."""


@dataclass(frozen=True)
class Limits:
    """What a server may use.

    Attributes
    ----------
    seconds : float
        For a game to be solved, and for each answer.
    memory : int
        Bytes, for each game.
    games : int
        How many are held at once; the one that was asked for longest ago gives way.
    solving : int
        How many are solved at once.
    rate : float
        Requests that one address may make in a second, in the long run.
    """

    seconds: float = 600.0
    memory: int = 4_000_000_000
    games: int = 8
    solving: int = 2
    rate: float = 500.0


class Worker:
    """One game and its process."""

    def __init__(self, key: Key, reference: str, saved: str | None, limits: Limits) -> None:
        self.key = key
        self.limits = limits
        self.stage, self.done, self.total = "starting", 0, None
        self.started = time.monotonic()
        self.document: Document | None = None
        self.error = ""
        self._first = {
            "game": reference,
            "parameters": dict(key[1]),
            "saved": saved,
            "memory": limits.memory,
        }
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._known: OrderedDict[str, str] = OrderedDict()
        self._solving = asyncio.create_task(self._solve())

    @property
    def is_solving(self) -> bool:
        return self.document is None and not self.error

    def status(self) -> Document:
        """How far it is."""
        state = "solving" if self.is_solving else "failed" if self.error else "solved"
        head = {"game": self.key[0], "parameters": dict(self.key[1]), "state": state}
        if self.error:
            return head | {"error": self.error}
        if self.document is not None:
            return head | {"solution": self.document}
        seconds = round(time.monotonic() - self.started, 1)
        return head | {
            "stage": self.stage, "done": self.done, "total": self.total, "seconds": seconds
        }  # fmt: skip

    async def _solve(self) -> None:
        try:
            async with asyncio.timeout(self.limits.seconds):
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "rollwise.serve.worker",
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
            self.document = said.get("solved")
            self.error = said.get("error", "")
        except TimeoutError:
            self.error = (
                f"not solved within {self.limits.seconds:g} seconds; smaller parameters help, "
                "or rollwise serve --time-limit"
            )
        except asyncio.CancelledError:
            self.error = "stopped"
            raise
        finally:
            if self.document is None:
                self.stop()

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
        line = await self._process.stdout.readline()
        if not line:
            return {"error": "the process that solves the game has ended; out of memory perhaps"}
        heard: dict[str, Any] = json.loads(line)
        return heard

    async def ask(self, question: dict[str, Any], *, is_remembered: bool = True) -> str:
        """The answer to a question, as text.

        Parameters
        ----------
        is_remembered : bool
            The answer is the same when it is asked again, and nothing has to be done for it.

        Raises
        ------
        RollwiseError
        """
        name = json.dumps(question, sort_keys=True)
        if is_remembered and name in self._known:
            return self._known[name]
        # it goes on where the client has gone, so that answers stay with their questions
        return await asyncio.shield(asyncio.ensure_future(self._asked(name, question)))

    async def _asked(self, name: str, question: dict[str, Any]) -> str:
        async with self._turn:
            if self.error:
                raise NotSolved(self.error)
            try:
                async with asyncio.timeout(self.limits.seconds):
                    said = await self._exchange(question)
            except TimeoutError:
                self.error = f"no answer within {self.limits.seconds:g} seconds"
                self.stop()
                raise Busy(self.error) from None
        if "error" in said:
            raise RollwiseError(said["error"])
        body: str = said["body"]
        if len(body) < 10_000:
            self._known[name] = body
            if len(self._known) > MOST_ANSWERS:
                self._known.popitem(last=False)
        return body

    def stop(self) -> None:
        """End the process."""
        if self.is_solving:
            self._solving.cancel()
        self.error = self.error or "stopped"
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


class Workers:
    """The games that are solved or being solved, the one that was asked for last at the end."""

    def __init__(self, offered: Offered, limits: Limits) -> None:
        self.offered = offered
        self.limits = limits
        self._held: OrderedDict[Key, Worker] = OrderedDict()
        self._ending: set[asyncio.Task[None]] = set()

    def held(self, game: Game) -> Worker | None:
        """The game's worker, if there is one."""
        key = key_of(game)
        if key in self._held:
            self._held.move_to_end(key)
        return self._held.get(key)

    def solved(self, game: Game) -> Worker:
        """The worker of a game that is solved.

        Raises
        ------
        NotSolved
        """
        worker = self.held(game)
        if worker is None or worker.document is None or worker.error:
            raise NotSolved(f"{game.name} isn't solved here yet; POST /api/solve solves it")
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
        self.end(game)
        while len(self._held) >= self.limits.games:
            oldest = next(key for key, one in self._held.items() if not one.is_solving)
            self._forget(oldest)
        key = key_of(game)
        saved = self.offered.saved.get(key)
        worker = Worker(
            key, self.offered.references[key[0]], None if saved is None else str(saved), self.limits
        )
        self._held[key] = worker
        return worker

    def end(self, game: Game) -> None:
        """Stop a game's process and forget it."""
        if key_of(game) in self._held:
            self._forget(key_of(game))

    def _forget(self, key: Key) -> None:
        task = asyncio.create_task(self._held.pop(key).end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Stop all, and wait until they have ended."""
        for key in list(self._held):
            self._forget(key)
        await asyncio.gather(*self._ending, return_exceptions=True)
