"""The tutorial as an executed notebook: its prose, its blocks as cells, and what these gave.

Commands are cells that begin with `!`, files are written by cells. What is typed into a game can't
be typed into a cell, so these blocks stay text. At the end stand cells of the notebook's own, which
show pages that play and explain.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import blocks

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.md"
NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
HEAD = """\
This is [the tutorial](tutorial.md) as a notebook. It was run from its first cell to its last. The
pages at its end need Jupyter: sites that only show notebooks leave them out.
"""
SHOWN = """\
## In a notebook

Solutions, advice and pictures show themselves. `play()` is a page to play on, with the coach, and
`explore()` the same page with the map of the strategy in front.
"""
CELLS = ("solution.advise((7, 8))", "solution.play()", "solution.explore()")

Cell = dict[str, Any]


def notebook() -> str:
    """The notebook, executed now, as JSON."""
    cells = _cells()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "tutorial.md"
        page.write_text(TUTORIAL.read_text(encoding="utf-8"), encoding="utf-8")
        printed = {block.line: text for block, text in blocks.run_page(page, Path(folder))}
        scope: dict[str, Any] = {}
        with contextlib.chdir(folder):
            for cell in cells:
                line = cell.pop("line", None)
                if cell["cell_type"] == "code":
                    _fill(cell, printed.get(line, ""), scope)
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    for number, cell in enumerate(codes, start=1):
        cell["execution_count"] = number
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = number
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def sources() -> list[str]:
    """What stands in the cells, without running them."""
    return ["".join(cell["source"]) for cell in _cells()]


def _cells() -> list[Cell]:
    """The cells, not run yet; those of blocks know their line."""
    text = TUTORIAL.read_text(encoding="utf-8")
    found, end = [_markdown(HEAD)], 0
    for block in blocks.blocks_of(text):
        begin = text.rindex("```", 0, block.span[0])
        while notes := re.search(r"\n<!-- .*? -->\n\Z", text[:begin]):
            begin = notes.start() + 1
        found.append(_markdown(text[end:begin]))
        last = block.shown or block
        end = text.index("```", last.span[1]) + 3
        if "typed" in block.notes or not (block.runs or block.notes):
            found[-1] = _markdown("".join([*found[-1]["source"], "\n\n", text[begin:end]]))
        else:
            found.append(_code(_typed(block), block.line))
    found.append(_markdown(text[end:]))
    found += [_markdown(SHOWN), *(_code(source) for source in CELLS)]
    found = [cell for cell in found if cell["source"]]
    return [{"id": f"cell-{number}", **cell} for number, cell in enumerate(found)]


def _typed(block: blocks.Block) -> str:
    """A block as one types it into a cell."""
    if "file" in block.notes:
        return f"%%writefile {block.notes['file']}\n{block.code}"
    if "append" in block.notes:
        indented = textwrap.indent(block.code, "    ")
        return f"%%writefile -a {block.notes['append']}\n\n{indented}"
    if block.language == "sh":
        lines = block.code.replace("\\\n", " ").splitlines()
        return "\n".join(f"!{line}" for line in lines if line and not line.startswith("#"))
    return block.code


def _markdown(text: str) -> Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(text.strip())}


def _code(text: str, line: int | None = None) -> Cell:
    return {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": _lines(text.strip("\n")),
        "line": line,
    }


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _fill(cell: Cell, printed: str, scope: dict[str, Any]) -> None:
    """Run a cell of Python, and note what it and what came before printed and gave."""
    source = "".join(cell["source"])
    if printed:
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": _lines(printed)}]
    if source.startswith(("!", "%%")):
        return
    *body, last = ast.parse(source).body
    with contextlib.redirect_stdout(None):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), scope)
        if not isinstance(last, ast.Expr):
            exec(compile(ast.Module([last], []), "<cell>", "exec"), scope)
            return
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), scope)
    if value is None:
        return
    data = {"text/plain": _lines(re.sub(r" at 0x\w+", "", repr(value)))}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = _lines(value._repr_html_())
    cell["outputs"].append({"output_type": "execute_result", "metadata": {}, "data": data})
