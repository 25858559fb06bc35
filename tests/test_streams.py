"""Output on streams that know few characters, are full, or were closed."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from unittest import mock

import pytest
from cli_runner import Done, output, play, refusal
from rule_faults import SOUND

from rollwise.cli import main

ADVISE = ("advise", "piglet", "--state", "banked=0,rival=0,turn=1")


def run_in(encoding: str, *arguments: str) -> Done:
    """The command line on streams of an encoding."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding) for _ in range(2))
    with (
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
        mock.patch.object(sys, "argv", ["rollwise", *arguments]),
        pytest.raises(SystemExit) as ending,
    ):
        main()
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode(encoding))  # type: ignore[attr-defined]
    return Done(int(ending.value.code or 0), *texts)


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("ascii", ("> ", "certified +/- ")), ("cp1252", ("> ", "± ")), ("utf-8", ("→ ", "± "))],
)
def test_characters_that_a_stream_does_not_know_have_stand_ins(encoding, shown):
    done = run_in(encoding, *ADVISE)
    assert done.returncode == 0
    assert all(text in done.stdout for text in shown)


def test_a_name_in_a_message_controls_no_terminal():
    assert "no file \\u001b[2J" in run_in("utf-8", "verify", "\x1b[2J").stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_json_is_json_on_every_stream(encoding, tmp_path):
    name = "é→\U0001f3b2"
    sheet = tmp_path / "own.py"
    sheet.write_text(SOUND.replace('("walk", "run")', f'("{name}", "{name}!")'), encoding="utf-8")
    told = run_in(encoding, "advise", str(sheet), "--state", "place=0,rival=0", "--json").stdout
    assert {row["action"] for row in json.loads(told)["actions"]} == {name, f"{name}!"}
    rows = json.loads(run_in(encoding, "table", str(sheet), "--json").stdout)["rows"]
    assert rows[0]["action"].startswith(name)
    assert run_in(encoding, "table", str(sheet), "--csv").returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", [ADVISE, ("solve", "piglet", "--json"), ("games", "--json")])
def test_a_full_device_is_a_line(arguments):
    command = [sys.executable, "-m", "rollwise", *arguments]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "rollwise: the output can't be written: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="streams of a shell")
def test_closed_streams():
    words = [sys.executable, "-m", "rollwise", "games"]
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *words], capture_output=True, text=True)
    said = "rollwise: standard output is closed; let it go to a file, or to /dev/null\n"
    assert (done.returncode, done.stderr) == (2, said)
    done = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *words], stdout=-1, text=True)
    assert done.returncode == 0
    assert "piglet" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="streams of a shell")
def test_a_game_without_an_input_is_stopped_and_kept(tmp_path):
    words = [sys.executable, "-m", "rollwise", "play", "piglet", "target=3", "--seed", "1"]
    shell = ["sh", "-c", '"$@" <&-', "sh", *words]
    done = subprocess.run(shell, capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert "rollwise play piglet --resume piglet.game" in done.stderr


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device without an end")
@pytest.mark.parametrize(
    "words",
    [
        ("table", "piglet", "target=3", "--load", "/dev/zero"),
        ("play", "piglet", "target=3", "--load", "/dev/zero"),
        ("judge", "threes", "/dev/zero"),
        ("review", "piglet", "/dev/zero"),
    ],
)
def test_a_file_without_an_end_is_refused(words):
    message = refusal(*words)
    assert "/dev/zero" in message
    assert "there is no file" not in message


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices")
@pytest.mark.parametrize(
    ("words", "ending"),
    [
        (("table", "piglet", "target=3", "--load"), "parquet"),
        (("verify",), "parquet"),
        (("evaluate", "piglet", "target=3", "--policy"), "csv"),
        (("evaluate", "piglet", "target=3", "--policy"), "json"),
        (("evaluate", "piglet", "target=3", "--policy"), "npz"),
        (("certify", "piglet", "target=3", "--values"), "csv"),
        (("certify", "piglet", "target=3", "--values"), "npy"),
        (("solve",), "py"),
        (("solve",), "umb"),
    ],
)
def test_pipes_and_devices_are_refused_as_such(tmp_path, words, ending):
    pipe, device = tmp_path / f"pipe.{ending}", tmp_path / f"device.{ending}"
    os.mkfifo(pipe)  # nothing ever writes to it
    device.symlink_to("/dev/zero")
    assert f"{pipe} is a pipe, and not a" in refusal(*words, str(pipe))
    assert f"{device} is a device, and not a" in refusal(*words, str(device))


@pytest.mark.skipif(os.name != "posix", reason="pipes")
@pytest.mark.parametrize("command", ["review", "scores"])
def test_written_games_are_read_from_a_pipe(tmp_path, command):
    written = tmp_path / "written.game"
    for seed in ("1", "2"):
        options = ("--seed", seed, "--save", f"{seed}.game")
        play(tmp_path, "threes", "dice=2", *options, typed="1 / 1 / 1")
    written.write_text("".join((tmp_path / f"{seed}.game").read_text() for seed in ("1", "2")))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(written.read_text()), daemon=True)
    writer.start()
    read = output(command, "threes", "dice=2", str(pipe))
    writer.join(10)
    assert read == output(command, "threes", "dice=2", str(written))
