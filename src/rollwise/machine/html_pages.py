"""A page of HTML in Python: shown by a notebook, or written to a file."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from rollwise.errors import UsageError
from rollwise.machine.atomic_files import check_place, write_text

HEIGHT = 800  # in a notebook, in pixels; the page scrolls


@dataclass(frozen=True)
class HtmlPage:
    """One page.

    Attributes
    ----------
    title : str
    html : str
        The whole page, which needs no network.
    what : str
        The word for it in messages.
    """

    title: str
    html: str = field(repr=False)
    what: str = "page"

    def also_at(self, path: str | Path | None) -> Self:
        """The page, saved too if a path is given."""
        if path is not None:
            self.save(path)
        return self

    def save(self, path: str | Path) -> None:
        """Write it to a file, all at once or not at all.

        Raises
        ------
        UsageError, OutputError
            The name doesn't end in .html, or the file can't be written.
        """
        place = Path(path)
        if place.suffix not in (".html", ".htm"):
            raise UsageError(f"{place}: the name of a {self.what} must end in .html")
        check_place(place)
        write_text(place, self.html)

    def _repr_html_(self) -> str:
        """The page in a frame, so that its style and the notebook's leave each other alone."""
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="{html.escape(self.title)}" '
            f'style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
        )
