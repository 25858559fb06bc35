"""Pieces of HTML that the parts of a report share."""

from __future__ import annotations

import html
import re


def marked(text: str) -> str:
    """Words that somebody wrote beside the rules: what stands in backticks is code."""
    return re.sub(r"(`+)(.+?)\1", r"<code>\2</code>", html.escape(text))


def scrolled(rows: str, name: str) -> str:
    """A table that scrolls by itself where it is wider than the screen, by keys too."""
    return (
        f"<div class='scroll' tabindex='0' role='region' aria-label='{html.escape(name)}'>"
        f"<table>{rows}</table></div>"
    )
