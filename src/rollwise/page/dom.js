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

// A place that keys can scroll while its contents don't fit.
export function scrollable(place) {
  const check = () => {
    if (place.scrollHeight > place.clientHeight) place.tabIndex = 0;
    else place.removeAttribute("tabindex");
  };
  new ResizeObserver(check).observe(place);
  new MutationObserver(check).observe(place, { childList: true });
  return place;
}

// A part of a bar: as wide as its share.
export function strip(style, share) {
  const part = el("i", { class: style });
  part.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  return part;
}

// A text above a bar.
export const barred = (style, share, text) => el("span", { class: "levels" }, strip(style, share), el("span", {}, text));

// The names of the players with their expected results, and a bar of their shares, unless there is none.
export function scoreboard(players, shares, label, unit) {
  return [el("div", { class: "plates" }, players.map(({ name, isMoving, text }, k) =>
    el("div", { class: `plate p${k}${isMoving ? " moves" : ""}` }, el("b", {}, name), text && el("span", {}, text)))),
  shares && el("div", { class: "meter", role: "img", "aria-label": label }, shares.map((share, k) => strip(`p${k}`, share))),
  el("small", { class: "unit" }, unit)];
}

// Cards of opponents, of which one is chosen.
export function opponentCards(legend, cards, onchange) {
  return el("fieldset", { class: "opponents" }, el("legend", {}, legend), cards.map(({ value, name, strength, about }, k) =>
    el("label", { class: "opponent" },
      el("input", { type: "radio", name: "opponent", value, checked: k === 0, onchange: onchange && (() => onchange(value)) }),
      el("b", {}, name), el("small", { "data-policy": value }, strength), about && el("small", { class: "about" }, about))));
}

// Let keys press an element like a button.
export function pressable(place, act, given = {}) {
  for (const [key, value] of Object.entries({ role: "button", tabindex: 0, ...given })) place.setAttribute(key, value);
  place.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  });
}

// Show a page in its style. An error takes its place, with a remedy.
export async function show(start, remedy) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(globalThis.css);
  document.adoptedStyleSheets = [sheet];
  try {
    await start();
  } catch (error) {
    fill(document.querySelector("main"), el("p", { class: "warning" }, error.message), remedy);
    throw error;
  }
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

let made = 0;
export const freshId = () => `e${++made}`;

export function button(text, act, given = {}) {
  return el("button", { type: "button", onclick: act, ...given }, text);
}

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

// Outlines of dice, by their sides: a coin, a tetrahedron, and so on; others are a rounded square.
const OUTLINES = { 4: "15,2 28,26 2,26", 8: "15,1 28,15 15,29 2,15", 10: "15,1 29,12 24,20 15,29 6,20 1,12",
  12: "15,1 29,11 24,28 6,28 1,11", 20: "15,1 28,8 28,22 15,29 2,22 2,8" };
const PIPS = { 1: "5", 2: "19", 3: "159", 4: "1379", 5: "13579", 6: "134679" };

// A die: pips on a die of six sides, else the name of the face on the outline of such a die.
export function die(face, name, sides, label, style = "") {
  const hasPips = sides === 6 && (name === String(face) || !face);
  const outline = OUTLINES[sides];
  const shape = sides === 2 ? ["circle", { cx: 15, cy: 15, r: 14, class: "body" }]
    : outline ? ["polygon", { points: outline, class: "body" }]
      : ["rect", { x: 1, y: 1, width: 28, height: 28, rx: 6, class: "body" }];
  const pips = hasPips ? [...PIPS[face] ?? ""].map((place) =>
    ["circle", { cx: 7 + 8 * ((place - 1) % 3), cy: 7 + 8 * Math.floor((place - 1) / 3), r: 2.8 }]) : [];
  const made = el("span", { class: `die ${style}${face ? "" : " blank"}`, role: label ? "img" : null, "aria-label": label, "aria-hidden": label ? null : "true" });
  if (!hasPips && name.length > 3) return fill(made, el("span", { class: "face" }, name));
  const text = hasPips || !name ? [] : [["text", { x: 15, y: sides === 4 ? 18 : 15.5, "text-anchor": "middle", "dominant-baseline": "central",
    "font-size": name.length > 2 ? 9 : 12, "font-weight": 700 }, name]];
  return fill(made, picture(null, [shape, ...pips, ...text]));
}

// A four-sided die, of which a marked or a plain corner is on top.
export function tip(marked) {
  return fill(el("span", { class: "die", "aria-hidden": "true" }), picture(null, [["polygon", { points: OUTLINES[4], class: "body" }],
    ...(marked ? [["circle", { cx: 15, cy: 10, r: 4.5 }]] : [])]));
}

// A picture of 30 by 30, of shapes: each a tag with attributes, and perhaps a text.
export function picture(style, shapes, box = "0 0 30 30") {
  const svg = (tag, given, text) => {
    const part = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(given)) if (value !== null) part.setAttribute(key, value);
    if (text) part.textContent = text;
    return part;
  };
  const made = svg("svg", { viewBox: box, "aria-hidden": "true", class: style });
  made.append(...shapes.map(([tag, given, text]) => svg(tag, given, text)));
  return made;
}
