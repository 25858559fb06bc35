"""How fast `rollwise serve` answers many clients at once, on this machine.

    python -m benchmarks.serve --clients 100 --seconds 60

Starts a server on a free port, has Pig solved, and lets clients ask for advice in random positions,
each a second's pause after its answer on average: first over a connection that each keeps, then
over a new one for each request. Every answer must have status 200.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

TARGET = 20
GAME = f"game=pig&parameter=target={TARGET}"


class Line:
    """Requests of one client, over one connection that is kept, or over a new one each."""

    def __init__(self, port: int, is_kept: bool) -> None:
        self.port, self.is_kept = port, is_kept
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def request(self, method: str, path: str, body: str = "") -> tuple[int, str]:
        """One request: its status and body."""
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        kept = "keep-alive" if self.is_kept else "close"
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: {kept}\r\n"
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        writer.write(f"{head}{kind}\r\n{body}".encode())
        said = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = int(re.search(r"(?i)\r\ncontent-length: *(\d+)", said)[1])  # type: ignore[index]
        answer = (await reader.readexactly(length)).decode()
        if not self.is_kept:
            writer.close()
            self.streams = None
        return int(said.split()[1]), answer


async def client(
    line: Line, states: list[str], pause: float, end: float, took: list[float], bad: list[str]
) -> None:
    """One person: thinks, asks, and is timed while the answer is awaited."""
    while time.perf_counter() < end:
        await asyncio.sleep(random.uniform(0, 2 * pause))
        path = f"/api/advise?{GAME}&state={random.choice(states)}"
        began = time.perf_counter()
        status, body = await line.request("GET", path)
        took.append(time.perf_counter() - began)
        if status != 200:
            bad.append(body)


def memory(server: int) -> int:
    """Bytes in memory of a process and its children (Linux)."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    pages = int(Path(f"/proc/{server}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") + sum(memory(int(child)) for child in children)


async def measure(port: int, server: int, clients: int, seconds: float, pause: float) -> None:
    line = Line(port, False)
    body = json.dumps({"game": "pig", "parameters": {"target": TARGET}})
    status, said = await line.request("POST", "/api/solve", body)
    while status == 202:
        await asyncio.sleep(0.1)
        status, said = await line.request("GET", f"/api/solve?{GAME}")
    assert json.loads(said)["state"] == "solved", said
    _, table = await line.request("GET", f"/api/table?{GAME}&limit=1000")
    fields = ("banked", "rival", "turn")
    rows = json.loads(table)["rows"]
    states = [",".join(f"{name}={row[name]}" for name in fields) for row in rows]
    for kind, is_kept in (("kept", True), ("new", False)):
        took: list[float] = []
        bad: list[str] = []
        end = time.perf_counter() + seconds
        lines = [Line(port, is_kept) for _ in range(clients)]
        await asyncio.gather(*(client(one, states, pause, end, took, bad) for one in lines))
        took.sort()
        print(f"{clients} clients, {kind} connections: {len(took)} answers in {seconds:g} s"
              f" ({len(took) / seconds:.0f} a second), {len(bad)} errors,"
              f" {memory(server) / 1e6:.0f} MB in memory", *bad[:1])  # fmt: skip
        for share in (0.5, 0.95, 0.99, 1.0):
            place = min(int(share * len(took)), len(took) - 1)
            print(f"  {share:4.0%} within {took[place] * 1000:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60, help="of each of the two")
    parser.add_argument("--pause", type=float, default=1.0)
    given = parser.parse_args()
    command = [sys.executable, "-u", "-m", "rollwise", "serve", "pig", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        server.stdout.readline()
        port = int(server.stdout.readline().split()[0].rstrip("/").rpartition(":")[2])
        time.sleep(1)
        asyncio.run(measure(port, server.pid, given.clients, given.seconds, given.pause))
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
