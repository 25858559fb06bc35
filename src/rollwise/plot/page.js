// Unpacks the packed parts of a page, and draws its figures: as wide as their place, light or
// dark, with the layout for that width.

async function rollwiseUnpack(id) {
  const packed = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Response(bytes).body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

const rollwiseLibrary = rollwiseUnpack("plotly").then((source) => {
  const script = document.createElement("script");
  script.textContent = source;
  document.head.appendChild(script);
});

const rollwiseDrawn = []; // a promise for each figure

function rollwiseFigure(id) {
  const place = document.getElementById(id);
  const both = Promise.all([rollwiseUnpack(id + "-data"), rollwiseLibrary]);
  // in a folded part there is no width to draw for
  const folded = place.closest("details:not([open])");
  const seen = folded && new Promise((open) => folded.addEventListener("toggle", open, { once: true }));
  const drawn = both.then(async ([text]) => {
    await seen;
    return rollwiseDraw(place, JSON.parse(text));
  });
  if (!folded) rollwiseDrawn.push(drawn);
  drawn.catch((error) => {
    place.textContent = "The picture that belongs here can't be drawn by this browser; "
      + `one made since 2023 will do (${error}).`;
  });
}

function rollwiseDraw(place, figure) {
  const meta = figure.layout.meta || {};
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isNarrow = () => place.clientWidth < 760;
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
      if (trace.mode === "text") trace.visible = !narrow || meta.narrow_labels;
    }
    place.style.minHeight = "0";
    return Plotly.newPlot(place, figure.data, layout, {
      responsive: true,
      displaylogo: false,
      displayModeBar: narrow ? false : "hover",
      scrollZoom: false,
    });
  }

  dark.addEventListener("change", draw);
  window.addEventListener("resize", () => { if (isNarrow() !== narrow) draw(); });
  return draw();
}

// A link to a folded part opens it.
function rollwiseUnfold() {
  const part = document.getElementById(location.hash.slice(1));
  if (part && part.tagName === "DETAILS") part.open = true;
}
window.addEventListener("hashchange", rollwiseUnfold);
window.addEventListener("load", rollwiseUnfold);
