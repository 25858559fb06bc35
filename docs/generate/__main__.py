"""Write the generated parts of the documentation: ``python docs/generate [--into FOLDER]``.

The cards of the games, the page on the command line, the picture of the tutorial
(where a browser is installed), and the outputs that pages show.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import blocks
import cards
import command_line

from rollwise.games import available

DOCS = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=DOCS, help="write pages there")
    into = parser.parse_args().into
    (into / "games").mkdir(parents=True, exist_ok=True)
    _write(into / "command-line.md", command_line.page())
    _write(into / "games" / "README.md", cards.index())
    for name in available():
        _write(into / "games" / f"{name}.md", cards.card(name))
    for name in ("tutorial.md", "methods.md"):
        page = into / name
        page.write_text((DOCS / name).read_text())
        with tempfile.TemporaryDirectory() as folder:
            blocks.refresh(page, Path(folder))
        print(page)
    _picture(into / "images" / "dragon.png")


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    print(path)


def _picture(path: Path) -> None:
    """What `rollwise plot examples/dragon.py policy` draws."""
    import rollwise
    from rollwise.errors import UsageError
    from rollwise.games import find
    from rollwise.plot.pages import write_figure

    path.parent.mkdir(exist_ok=True)
    solution = rollwise.solve(find(str(DOCS.parent / "examples" / "dragon.py"))())
    try:
        write_figure(solution.plot("policy"), path, "dragon", 900)
        print(path)
    except UsageError as error:
        print(f"{path} is left as it was: {error}")


main()
