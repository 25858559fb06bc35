"""How fast `rollwise serve` answers many clients at once, on this machine.

    python -m benchmarks.serve --clients 100 --seconds 60

Starts a server on a free port, has Pig solved, and lets clients ask for advice in random positions,
each a second's pause after its answer on average. Every answer must have status 200.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time

TARGET = 20
GAME = f"game=pig&parameter=target={TARGET}"


async def request(port: int, method: str, path: str, body: str = "") -> tuple[int, str]:
    """One request on a connection of its own: its status and body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
    kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
    writer.write(f"{head}{kind}\r\n{body}".encode())
    answer = (await reader.read()).decode()
    writer.close()
    return int(answer.split()[1]), answer.partition("\r\n\r\n")[2]


async def client(
    port: int, states: list[str], pause: float, end: float, took: list[float], bad: list[str]
) -> None:
    """One person: thinks, asks, and is timed while the answer is awaited."""
    while time.perf_counter() < end:
        await asyncio.sleep(random.uniform(0, 2 * pause))
        began = time.perf_counter()
        path = f"/api/advise?{GAME}&state={random.choice(states)}"
        status, body = await request(port, "GET", path)
        took.append(time.perf_counter() - began)
        if status != 200:
            bad.append(body)


async def measure(port: int, clients: int, seconds: float, pause: float) -> None:
    body = json.dumps({"game": "pig", "parameters": {"target": TARGET}})
    status, said = await request(port, "POST", "/api/solve", body)
    while status == 202:
        await asyncio.sleep(0.1)
        status, said = await request(port, "GET", f"/api/solve?{GAME}")
    assert json.loads(said)["state"] == "solved", said
    _, table = await request(port, "GET", f"/api/table?{GAME}&limit=1000")
    fields = ("banked", "rival", "turn")
    rows = json.loads(table)["rows"]
    states = [",".join(f"{name}={row[name]}" for name in fields) for row in rows]
    took: list[float] = []
    bad: list[str] = []
    end = time.perf_counter() + seconds
    await asyncio.gather(*(client(port, states, pause, end, took, bad) for _ in range(clients)))
    took.sort()
    print(f"{clients} clients, {len(took)} answers in {seconds:g} s, {len(bad)} errors", *bad[:1])
    for share in (0.5, 0.95, 0.99, 1.0):
        place = min(int(share * len(took)), len(took) - 1)
        print(f"  {share:4.0%} within {took[place] * 1000:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=1.0)
    given = parser.parse_args()
    command = [sys.executable, "-u", "-m", "rollwise", "serve", "pig", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        server.stdout.readline()
        port = int(server.stdout.readline().split()[0].rstrip("/").rpartition(":")[2])
        time.sleep(1)
        asyncio.run(measure(port, given.clients, given.seconds, given.pause))
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
