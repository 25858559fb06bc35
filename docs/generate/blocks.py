"""The code blocks of a page, run in their order, and the output that the page shows of them.

Every ``sh`` and ``python`` block of a page runs, in one empty folder (with the
repository's ``examples`` in it) and one Python scope. A ``text`` block shows the printed
output. It follows at once, or after one line of words. Times of the form ``0.12 s`` may differ.
So may bounds below 1e-9 and digits after the tenth decimal, since machines round differently. A
line ``...`` stands for any lines. A comment above a block, which readers don't see, has a note:

    <!-- file: dragon.py -->     the block is that file, and isn't run
    <!-- append: dragon.py -->   a method, for the class at the end of that file
    <!-- not run: reason -->     why it can't be
    <!-- exit: 1 -->             the exit code of its last command
    <!-- typed: 1 2 q -->        what is typed into it, a line each
    <!-- numbers: reason -->     why the numbers that it prints may differ from those shown
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"(?P<notes>(?:^<!-- (?:(?!-->).)*? -->\n)*)^```(?P<language>\w*)\n(?P<code>.*?)^```$",
    re.M | re.S,
)
NOTE = re.compile(r"<!-- (file|append|not run|exit|typed|numbers): (.*?) -->")
NUMBER = re.compile(r"\b\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?\b")
LONG = re.compile(r"-?\b\d+\.\d{11,}\b")
TINY = re.compile(r"\b\d(?:\.\d+)?e-[1-9]\d+\b")
SECONDS = re.compile(r"\b\d+\.\d+ s\b")
FIRST = "; some of it compiling, once on this machine"  # which a machine says that was never used


@dataclass
class Block:
    """A fenced block of a page.

    Attributes
    ----------
    language, code : str
    notes : dict
        What the comments above it say.
    line : int
        Where its code begins.
    span : (int, int)
        Where its code stands in the page.
    shown : Block or None
        The block that shows its output.
    """

    language: str
    code: str
    notes: dict[str, str]
    line: int
    span: tuple[int, int]
    shown: Block | None = field(default=None, repr=False)

    @property
    def runs(self) -> bool:
        """Whether it is something that runs."""
        return self.language in ("sh", "python") and not self.notes.keys() & {
            "file",
            "append",
            "not run",
        }


class DocumentError(Exception):
    """A block that doesn't do what its page says."""


def blocks_of(text: str) -> list[Block]:
    """The blocks of a page, each with the one that shows its output."""
    found: list[Block] = []
    end = 0
    for match in BLOCK.finditer(text):
        notes = dict(NOTE.findall(match["notes"]))
        line = text.count("\n", 0, match.start("code")) + 1
        block = Block(match["language"], match["code"], notes, line, match.span("code"))
        between = text[end : match.start()].strip()
        if block.language == "text" and not notes and found and found[-1].runs and not between:
            found[-1].shown = block
        else:
            found.append(block)
        end = match.end()
    return found


def matches(shown: str, printed: str, *, numbers: bool = True) -> bool:
    """Whether a page shows what was printed, its numbers (but for times) included or not."""

    def plain(line: str) -> str:
        line = SECONDS.sub("# s", line.rstrip().removesuffix(FIRST))
        line = TINY.sub("#", line) if numbers else NUMBER.sub("#", line)
        line = LONG.sub(lambda found: f"{float(found[0]):z.10f}", line)
        # columns are as wide as their numbers
        return re.sub(r"\s+", " ", line)

    pattern = "".join(
        "(?:.*\n)*" if line == "..." else re.escape(plain(line)) + "\n"
        for line in shown.splitlines()
    )
    lines = "".join(plain(line) + "\n" for line in printed.splitlines())
    return re.fullmatch(pattern, lines) is not None


def _agrees(block: Block, output: str) -> bool:
    """Whether a page shows what a block printed, if it shows anything."""
    if block.shown is None:
        return True
    return matches(block.shown.code, output, numbers="numbers" not in block.notes)


def write_files(block: Block, folder: Path) -> None:
    """Write the file that a block is, or add the method that it is to one."""
    if "file" in block.notes:
        (folder / block.notes["file"]).write_text(block.code, encoding="utf-8")
    if "append" in block.notes:
        with (folder / block.notes["append"]).open("a", encoding="utf-8") as file:
            file.write("\n" + textwrap.indent(block.code, "    "))


def run_page(page: Path, folder: Path) -> list[tuple[Block, str]]:
    """Run the blocks of a page in a folder; gives what each printed.

    Raises
    ------
    DocumentError
        A block failed, or printed something else than the page shows.
    """
    printed = []
    for block, output in _run(page.read_text(encoding="utf-8"), page, folder):
        if not _agrees(block, output):
            raise DocumentError(
                f"{page.name}, line {block.shown.line}: the page shows another text than the "
                f"command prints:\n{output}"
            )
        printed.append((block, output))
    return printed


def refresh(page: Path, folder: Path) -> None:
    """Run a page and write into it what its blocks print today, where that is shown in full."""
    text = page.read_text(encoding="utf-8")
    for block, output in reversed(list(_run(text, page, folder))):
        if _agrees(block, output):
            continue
        if "...\n" in block.shown.code:
            raise DocumentError(f"{page.name}, line {block.shown.line}: shorten it anew by hand")
        low, high = block.shown.span
        lines = "".join(line.rstrip() + "\n" for line in output.splitlines())
        text = text[:low] + lines + text[high:]
    page.write_text(text, encoding="utf-8")


def _run(text: str, page: Path, folder: Path) -> Any:
    examples = folder / "examples"
    if not examples.exists():
        examples.symlink_to(ROOT / "examples")
    scope: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(text):
        if "not run" in block.notes and not block.notes["not run"].strip():
            raise DocumentError(f"{page.name}, line {block.line}: say why it isn't run")
        write_files(block, folder)
        if block.runs:
            with contextlib.chdir(folder):
                code, output = _run_block(block, scope)
            expected = int(block.notes.get("exit", 0))
            if code != expected:
                raise DocumentError(
                    f"{page.name}, line {block.line}: ended with {code}, not {expected}\n{output}"
                )
            if "rollwise: warning" in output and block.shown is None:
                raise DocumentError(f"{page.name}, line {block.line}: it warns\n{output}")
            yield block, output


def _run_block(block: Block, scope: dict[str, Any]) -> tuple[int, str]:
    output = io.StringIO()
    typed = io.StringIO("".join(f"{word}\n" for word in block.notes.get("typed", "").split()))
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
        mock.patch.object(sys, "stdin", typed),
        mock.patch.dict(os.environ, {"COLUMNS": "80"}),
    ):
        if block.language == "python":
            known = set(sys.modules)
            with mock.patch.object(sys, "path", [os.getcwd(), *sys.path]):
                exec(compile(block.code, f"<python of line {block.line}>", "exec"), scope)
            for name in set(sys.modules) - known:  # another page may have a file of that name
                if str(getattr(sys.modules[name], "__file__", "")).startswith(os.getcwd()):
                    del sys.modules[name]
            return 0, output.getvalue()
        lines = block.code.replace("\\\n", " ").splitlines()
        for line in lines:
            code = _run_line(line)
            if code != 0 and line != lines[-1]:
                break
    return code, output.getvalue()


def _run_line(line: str) -> int:
    """A command line: rollwise in this process, anything else by the shell."""
    words = shlex.split(line, comments=True)
    if not words:
        return 0
    if words[0] != "rollwise":
        path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
        environment = os.environ | {"PATH": path}  # `python` is the one of this process
        done = subprocess.run(line, shell=True, capture_output=True, text=True, env=environment)
        print(done.stdout + done.stderr, end="")
        return done.returncode
    if re.search(r"\.(png|svg)\b", line) and not _has_browser():
        return 0  # where there is none, the command says so, and test_plot.py holds it to that
    from rollwise.cli import main

    with mock.patch.object(sys, "argv", words), warnings.catch_warnings():
        try:
            main()
        except SystemExit as ended:
            return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def _has_browser() -> bool:
    from rollwise.errors import UsageError
    from rollwise.plot.pages import find_browser

    try:
        find_browser()
    except UsageError:
        return False
    return True
