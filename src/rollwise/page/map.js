// A map on a canvas: a cell for each position, with a colour and a texture for its best choice.

const LIGHT = ["#9ecae9", "#f5b56b", "#a8d7a0", "#d9b3e6", "#f2a3a0", "#e8dc7d", "#b8b8c8", "#8fd3cf", "#d8c3a5", "#dddddd"];
const DARK = ["#2f6f9f", "#b06a12", "#3b7d3a", "#7d4f96", "#a8423d", "#8a7d14", "#5f5f72", "#2a7f7a", "#7a6040", "#555555"];
const GRAIN = 6; // pixels of a texture before it is repeated
const FONT = "12px system-ui, sans-serif";

const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

// The fill of the action with this rank: its colour, and a texture for readers without colours.
function texture(context, rank) {
  const k = Math.min(rank, LIGHT.length - 1);
  const tile = document.createElement("canvas");
  tile.width = tile.height = GRAIN;
  const pen = tile.getContext("2d");
  pen.fillStyle = (isDark() ? DARK : LIGHT)[k];
  pen.fillRect(0, 0, GRAIN, GRAIN);
  pen.fillStyle = isDark() ? "#ffffff66" : "#00000066";
  for (let i = 0; i < GRAIN; i++) {
    if (k === 1 || k === 4) pen.fillRect(i, GRAIN - 1 - i, 1, 1);
    if (k === 2 || k === 4) pen.fillRect(i, i, 1, 1);
    if (k === 3 || k === 6) pen.fillRect(i, 2, 1, 1);
    if (k === 5 || k === 6) pen.fillRect(2, i, 1, 1);
  }
  if (k === 7) pen.fillRect(1, 1, 2, 2);
  if (k === 8) pen.fillRect(0, 0, 4, 4);
  if (k === 9) [0, 2, 4].forEach((i) => pen.fillRect(i, i, 1, 1));
  return context.createPattern(tile, "repeat");
}

// The sign of an action in the legend.
export function swatch(rank) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 18;
  canvas.className = "swatch";
  canvas.setAttribute("aria-hidden", "true");
  const context = canvas.getContext("2d");
  context.fillStyle = texture(context, rank);
  context.fillRect(0, 0, 18, 18);
  return canvas;
}

// Draw a map, with a text for each number of an axis. Returns functions from places on it to positions.
export function drawMap(canvas, { xs, ys, xTexts, yTexts, rows, ranked, at }) {
  const wide = Math.min(canvas.parentElement.clientWidth || 320, 720);
  const context = canvas.getContext("2d");
  context.font = FONT;
  const room = (texts) => 6 + Math.max(...texts.map((each) => context.measureText(each).width));
  const [left, top] = [Math.max(44, Math.min(room(yTexts) + 4, wide / 2)), 22];
  const across = Math.max(26, room(xTexts)); // room for a text above a column
  const cell = Math.max(3, Math.min(Math.max(28, across), Math.floor((wide - left - 8) / Math.max(1, xs.length))));
  const high = Math.max(3, Math.min(ys.length > 1 ? cell : 28, Math.floor(900 / Math.max(1, ys.length))));
  const [width, height] = [left + xs.length * cell + 8, top + ys.length * high + 8];
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.min(8000, width * ratio);
  canvas.height = Math.min(8000, height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  context.scale(ratio, ratio);
  const ink = getComputedStyle(canvas).color;
  const fills = ranked.map((_, rank) => texture(context, rank));
  rows.forEach((row, j) => row.forEach((name, i) => {
    if (name === undefined) return;
    const [x, y] = [left + i * cell, top + j * high];
    if (name === null) {
      context.fillStyle = ink;
      context.globalAlpha = 0.25;
      context.fillRect(x + cell / 2 - 1, y + high / 2 - 1, 2, 2);
      context.globalAlpha = 1;
      return;
    }
    context.fillStyle = fills[ranked.indexOf(name)];
    context.fillRect(x, y, cell - (cell > 6 ? 1 : 0), high - (high > 6 ? 1 : 0));
  }));
  axes(context, { xs, ys, xTexts, yTexts, left, top, cell, high, across, ink });
  const here = [xs.indexOf(at[0]), ys.indexOf(at[1])];
  if (here[0] >= 0 && here[1] >= 0) {
    context.strokeStyle = ink;
    context.lineWidth = 2;
    context.strokeRect(left + here[0] * cell - 1, top + here[1] * high - 1, cell + 1, high + 1);
  }
  return {
    at: (x, y) => {
      const [i, j] = [Math.floor((x - left) / cell), Math.floor((y - top) / high)];
      return rows[j]?.[i] === undefined ? null : [xs[i], ys[j]];
    },
    // The next position in a direction; where the map has gaps, beyond them.
    next: ([dx, dy]) => {
      let [i, j] = here.map((place) => Math.max(place, 0));
      do {
        [i, j] = [i + dx, j + dy];
      } while (i >= 0 && i < xs.length && j >= 0 && j < ys.length && rows[j][i] === undefined);
      return rows[j]?.[i] === undefined ? null : [xs[i], ys[j]];
    },
  };
}

function axes(context, { xs, ys, xTexts, yTexts, left, top, cell, high, across, ink }) {
  context.fillStyle = ink;
  context.font = FONT;
  context.textBaseline = "middle";
  // the indices of numbers with room for their texts: all, or the round ones; of words some
  const named = (numbers, texts, size, room) => {
    if (texts.some((each, i) => each !== String(numbers[i]))) return [...numbers.keys()].filter((i) => i % Math.ceil(room / size) === 0);
    const gap = Math.min(...numbers.slice(1).map((number, i) => number - numbers[i]));
    const step = [1, 2, 5].flatMap((n) => [0, 1, 2, 3, 4, 5].map((k) => n * 10 ** k)).sort((a, b) => a - b).find((n) => (n * size) / gap >= room);
    return [...numbers.keys()].filter((i) => size >= room || numbers[i] % step === 0);
  };
  context.textAlign = "center";
  for (const i of named(xs, xTexts, cell, across)) context.fillText(xTexts[i], left + (i + 0.5) * cell, top - 9);
  context.textAlign = "right";
  for (const j of named(ys, yTexts, high, 16)) context.fillText(yTexts[j], left - 6, top + (j + 0.5) * high, left - 8);
}
