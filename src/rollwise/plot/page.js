// Draws a figure as wide as its place, light or dark, with the layout for its width.
function rollwiseFigure(id, figure) {
  const place = document.getElementById(id);
  const meta = figure.layout.meta || {};
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isNarrow = () => place.clientWidth < 640;
  let narrow = null;

  function put(layout, changes) {
    for (const [path, value] of Object.entries(changes || {})) {
      const keys = path.split(".");
      const last = keys.pop();
      let at = layout;
      for (const key of keys) at = at[key] = at[key] || {};
      const both = value && typeof value === "object" && !Array.isArray(value);
      at[last] = both ? Object.assign({}, at[last], structuredClone(value)) : value;
    }
  }

  function draw() {
    narrow = isNarrow();
    const layout = structuredClone(figure.layout);
    put(layout, meta[narrow ? "narrow" : "wide"]);
    layout.autosize = true;
    delete layout.width;
    if (dark.matches) {
      layout.paper_bgcolor = layout.plot_bgcolor = "#16181d";
      layout.font.color = "#e8e8e8";
      for (const label of layout.annotations || []) {
        if (label.bgcolor === "white") label.bgcolor = layout.paper_bgcolor;
      }
    }
    for (const trace of figure.data) {
      if (trace.type !== "heatmap" || !trace.text) continue;
      trace.texttemplate = narrow && !meta.narrow_labels ? "" : "%{text}";
    }
    Plotly.newPlot(place, figure.data, layout, {
      responsive: true,
      displaylogo: false,
      displayModeBar: narrow ? false : "hover",
      scrollZoom: false,
    });
  }

  draw();
  dark.addEventListener("change", draw);
  window.addEventListener("resize", () => { if (isNarrow() !== narrow) draw(); });
}
