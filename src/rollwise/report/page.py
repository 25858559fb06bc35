"""A report in Python."""

from __future__ import annotations

from typing import ClassVar

from rollwise.machine.html_pages import HtmlPage


class ReportPage(HtmlPage):
    """A report as one page."""

    what: ClassVar[str] = "report"
