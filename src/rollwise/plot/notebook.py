"""Figures in notebooks, and in what notebooks are exported to.

Plotly gives a notebook data that only a running notebook can draw, so an exported
page (nbconvert) shows nothing. Here the figure is given as a page too.
"""

from __future__ import annotations

import html
from typing import Any

import plotly.graph_objects as go

from rollwise.plot.pages import page


class Picture(go.Figure):  # type: ignore[misc]
    """A Plotly figure that an exported notebook shows as well."""

    _ipython_display_ = None  # Plotly's, which IPython would prefer to the bundle

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        bundle = dict(super()._repr_mimebundle_(*args, **kwargs) or {})
        return {**bundle, "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        """The figure in a frame, so that it needs neither a network nor the notebook's scripts."""
        meta = self.layout.meta
        if not meta or "wide" not in meta:  # not one that rollwise drew
            return str(self.to_html(full_html=False))
        title = meta["title"]
        height = meta["wide"]["height"] + 20
        return (
            f'<iframe srcdoc="{html.escape(page(self, title))}" title="{html.escape(title)}" '
            f'style="width:100%;height:{height:.0f}px;border:0"></iframe>'
        )
