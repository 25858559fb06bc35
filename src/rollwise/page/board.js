// A board drawn from its cells. Colours aren't the only signs: pieces of the mover
// are full discs, those of the other player rings.

import { el, picture } from "./dom.js";

const MOST_PIECES = 3; // drawn one by one on a square or a point
const MOST_STEPS = 15; // of a bar, drawn one by one

const KINDS = {
  label: (text) => el("span", { class: "label" }, text),
  square: (text, [mine, theirs, marked]) => el("span", { class: marked ? "square marked" : "square" },
    marked > 0 && rosette(), pieces(mine, "mine"), pieces(theirs, "theirs")),
  point: (text, [mine, theirs]) => el("span", { class: "point" },
    pieces(mine, "mine"), pieces(theirs, "theirs")),
  tile: (text, [gone]) => el("span", { class: gone ? "tile gone" : "tile" }, gone ? el("s", {}, text) : text),
  box: (text, [filled]) => el("span", { class: filled ? "box filled" : "box" },
    el("b", {}, filled ? "✓" : ""), text),
  bar: (text, [kept, risked, of, theirs]) => bar(kept, risked, of, theirs ? "theirs" : "mine"),
};

export function drawBoard(rows, name) {
  const wide = Math.max(...rows.map((row) => row.length));
  const stretched = rows.some((row) => row.some(({ kind }) => kind === "bar" || kind === "box"));
  const board = el("div", { class: stretched ? "board stretched" : "board", role: "img", "aria-label": name },
    rows.map((row) => Array.from({ length: wide }, (_, k) =>
      row[k] ? KINDS[row[k].kind](row[k].text, row[k].numbers) : el("span"))));
  const columns = Array.from({ length: wide }, (_, k) => {
    const kinds = new Set(rows.map((row) => row[k]?.kind));
    return kinds.has("bar") || kinds.has("box") ? "1fr" : kinds.size === 1 && kinds.has("label") ? "max-content" : null;
  });
  const squares = columns.filter((column) => column === null).length;
  const size = stretched ? "2rem" : `minmax(0, ${squares > 9 ? 2.6 : 3}rem)`;
  board.style.gridTemplateColumns = columns.map((column) => column ?? size).join(" ");
  return board;
}

function pieces(n, whose) {
  if (n > MOST_PIECES) return el("span", { class: `piece ${whose} many` }, String(n));
  return Array.from({ length: n }, () => el("span", { class: `piece ${whose}` }));
}

function rosette() {
  const petals = [0, 45, 90, 135].map((turn) =>
    ["ellipse", { cx: 15, cy: 15, rx: 12, ry: 3.2, transform: `rotate(${turn} 15 15)` }]);
  return picture("rosette", petals);
}

function bar(kept, risked, of, whose) {
  const part = (n, style) => {
    const made = el("i", { class: style });
    made.style.width = `${(100 * Math.min(n, of)) / of}%`;
    return made;
  };
  const steps = el("span", { class: `steps ${whose}` }, part(kept, "kept"), part(risked, "risked"));
  if (of <= MOST_STEPS) {
    steps.classList.add("few");
    steps.style.setProperty("--steps", of);
  }
  const text = risked ? `${kept} + ${risked}` : String(kept);
  return el("span", { class: "bar" }, steps, el("small", {}, text));
}
