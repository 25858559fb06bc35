"""Connections to a server: how many, from whom, and how long one may stay without a request."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

CONNECTION = "rollwise.connection"  # what the state of a request names its connection by
MOST = 900  # connections; a process may often have 1,024 files
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
    """All connections of a server.

    Where there are too many, of an address or of all, the one that has waited longest for a
    request is closed. A new one is closed where none waits.

    Parameters
    ----------
    protocol : callable
        Makes the protocol (`asyncio.Protocol`) of a connection, as Uvicorn makes it.
    """

    def __init__(
        self,
        protocol: Callable[..., Any],
        most: int = MOST,
        most_of_an_address: int = MOST_OF_AN_ADDRESS,
        longest_wait: float = LONGEST_WAIT,
    ) -> None:
        self._protocol = protocol
        self._most, self._most_of_an_address = most, most_of_an_address
        self.longest_wait = longest_wait
        self.of_address: Counter[str] = Counter()
        self.waiting: dict[Watched, None] = {}  # in the order in which they began to wait

    def __call__(self, *, app_state: dict[str, Any], **given: Any) -> Watched:
        """The protocol of a new connection."""
        watched = Watched(self)
        watched.inner = self._protocol(app_state={**app_state, CONNECTION: watched}, **given)
        return watched

    def make_room(self, new: Watched) -> None:
        """Close connections until there aren't too many; `new` has been counted."""
        if self.of_address[new.address] > self._most_of_an_address:
            same = (one for one in self.waiting if one.address == new.address)
            next(same, new).abort()
        elif self.of_address.total() > self._most:
            next(iter(self.waiting), new).abort()


class Watched(Connection, asyncio.Protocol):
    """A connection that is closed when it waits too long; all else its inner protocol does."""

    inner: Any

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
            self._timer = loop.call_later(self._all.longest_wait, self.abort)

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

    def data_received(self, data: bytes) -> None:
        self.inner.data_received(data)

    def eof_received(self) -> bool | None:
        kept: bool | None = self.inner.eof_received()
        return kept

    def pause_writing(self) -> None:
        self.inner.pause_writing()

    def resume_writing(self) -> None:
        self.inner.resume_writing()
