// Elements of the page. Text is always text and never HTML.

export function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  fill(made, ...children);
  return made;
}

export function fill(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter((child) => child || child === 0));
  return place;
}

let made = 0;
export const freshId = () => `e${++made}`;

// A control with its name.
export function labelled(name, control, note) {
  control.id = control.id || freshId();
  return el("div", { class: "control" }, el("label", { for: control.id }, name), control,
    note && el("small", {}, note));
}

// A choice among [value, text].
export function select(options, chosen, onchange) {
  const made = el("select", { onchange: () => onchange?.(made.value) });
  fillSelect(made, options, chosen);
  return made;
}

export function fillSelect(place, options, chosen) {
  fill(place, options.map(([value, text]) => el("option", { value }, text)));
  if (chosen !== undefined) place.value = chosen;
}

// A table: names of columns, and rows. Columns in `numbers` are set to the right.
export function table(caption, columns, rows, { numbers = [], marked = [] } = {}) {
  const style = (k) => (numbers.includes(k) ? "number" : null);
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", {},
      el("thead", {}, el("tr", {}, columns.map((name, k) =>
        name ? el("th", { scope: "col", class: style(k) }, name) : el("td")))),
      el("tbody", {}, rows.map((row, i) => el("tr", { class: marked.includes(i) ? "marked" : null },
        row.map((cell, k) => el(k === 0 ? "th" : "td",
          { class: style(k), scope: k === 0 ? "row" : null }, cell)))))));
}

// A die: pips on a die of six sides, else the name of the face.
export function die(face, name, sides, label) {
  const chip = el("span", { class: "die", role: "img", "aria-label": label });
  if (sides !== 6 || name !== String(face)) return fill(chip, name);
  const places = { 1: "5", 2: "19", 3: "159", 4: "1379", 5: "13579", 6: "134679" }[face];
  return fill(chip, picture(null, [...places].map((place) => {
    const at = Number(place) - 1;
    return ["circle", { cx: 7 + 8 * (at % 3), cy: 7 + 8 * Math.floor(at / 3), r: 2.7 }];
  })));
}

// A picture of 30 by 30, of shapes: each a tag with attributes.
export function picture(style, shapes) {
  const svg = (tag, given) => {
    const part = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(given)) if (value !== null) part.setAttribute(key, value);
    return part;
  };
  const made = svg("svg", { viewBox: "0 0 30 30", "aria-hidden": "true", class: style });
  made.append(...shapes.map(([tag, given]) => svg(tag, given)));
  return made;
}
