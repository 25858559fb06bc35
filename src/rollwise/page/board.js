// A board drawn from its cells, or from the fields of a game without cells. Colours belong to seats,
// and aren't the only signs: pieces of the mover are full discs, those of other players rings.

import { die, el, picture, strip, tip } from "./dom.js";
import { SAY } from "./strings.js";

const MOST_PIECES = 3; // drawn one by one on a square or a point
const MOST_STICKS = 24; // of a pile, drawn one by one
const MOST_STEPS = 20; // of a bar, drawn one by one
const SEAT = 15; // characters of a player's name
const TILE = 1.35; // height of a tile, in cells
const WIDE = new Set(["bar", "box", "pile"]); // kinds as wide as there is room

// `look.colour(k)` and `look.name(k)` are of the player k seats after the mover.
const KINDS = {
  label: (text) => el("span", { class: "label" }, text),
  seat: (text, [after], look) => el("span", { class: `seat ${look.colour(after)}` }, look.name(after)),
  square: (text, [mine, theirs, marked], look) => el("span", { class: "square" },
    marked > 0 && rosette(), pieces(mine, 0, look, text), pieces(theirs, 1, look, text)),
  point: (text, [mine, theirs], look) => el("span", { class: "point" }, pieces(mine, 0, look), pieces(theirs, 1, look)),
  tile: (text, [gone]) => el("span", { class: `tile${gone ? " gone" : ""}${text.length > 3 ? " long" : ""}` }, gone ? el("s", {}, text) : text),
  box: (text, [filled]) => el("span", { class: filled ? "box filled" : "box" }, el("b", {}, filled ? "✓" : ""), text),
  die: (text, [face, sides, kept]) => die(face, face ? String(face) : "", sides, null, kept ? "kept" : ""),
  tip: (text, [marked]) => tip(marked),
  hole: (text, [full, through]) => el("span", { class: `hole${full ? " full" : ""}${through ? " through" : ""}` }),
  pile: (text, [n, after], look) => pile(text, n, look.colour(after)),
  bar: (text, [kept, risked, of, after], look) => bar(text, kept, risked, of, look.colour(after)),
};

export function drawBoard(rows, name, look) {
  const placed = look.turns ? turned(rows, look) : rows;
  const isWide = (row) => row.some(({ kind }) => WIDE.has(kind));
  const drawn = new Map(placed.map((row) => [row, []]));
  // wide cells share no column with texts, which would be cut off
  const fits = (row, other) => isWide(row) === isWide(other)
    && (!isWide(row) || row.every((cell, k) => !other[k] || isText(cell) === isText(other[k])));
  const groups = []; // of rows with columns of their own
  for (const row of placed) {
    if (groups.at(-1)?.every((other) => fits(row, other))) groups.at(-1).push(row);
    else groups.push([row]);
  }
  const board = el("div", { class: placed.length < 4 ? "board few" : "board", role: "img", "aria-label": name },
    groups.map((group) => drawRows(group, isWide(group[0]), look, drawn)));
  board.cells = placed.map((row) => drawn.get(row)); // the element of each cell
  // room for the columns of cells beside those of texts
  const texts = groups.filter(([first]) => !isWide(first)).map((group) => columns(group).map((cells) => (cells.every(isText) ? Math.max(...cells.map(({ kind, text }) => (kind === "seat" ? SEAT : text.length))) : null)));
  board.style.setProperty("--wide", Math.max(...texts.map((list) => list.filter((n) => n === null).length), 1));
  board.style.setProperty("--texts", Math.max(...texts.map((list) => list.reduce((sum, n) => sum + (n ?? 0), 0)), 0));
  board.style.setProperty("--high", placed.reduce((sum, row) => sum + (row.some(({ kind }) => kind === "tile") ? TILE : 1), 0));
  return board;
}

function drawRows(rows, isWide, look, drawn) {
  const wide = Math.max(...rows.map((row) => row.length));
  const made = el("div", { class: isWide ? "rows wide" : "rows" }, rows.map((row) => Array.from({ length: wide }, (_, k) =>
    (row[k] ? drawn.get(row)[drawn.get(row).push(drawCell(row[k], look)) - 1] : el("span")))));
  made.style.setProperty("--cells", wide);
  made.style.gridTemplateColumns = columns(rows).map((cells) =>
    (cells.some(({ kind }) => WIDE.has(kind)) ? "minmax(0, 1fr)" : cells.every(isText) ? "max-content" : "var(--cell)")).join(" ");
  return made;
}

const isText = ({ kind }) => kind === "label" || kind === "seat";
const columns = (rows) => Array.from({ length: Math.max(...rows.map((row) => row.length)) }, (_, k) => rows.flatMap((row) => row[k] ?? []));

// A die of a throw, with its name.
export function drawDie({ kind, text, numbers }) {
  const made = KINDS[kind](text, numbers);
  made.removeAttribute("aria-hidden");
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", SAY.die(kind === "tip" ? SAY.tips[numbers[0]] : numbers[0]));
  return made;
}

function drawCell({ kind, text, numbers }, look) {
  const made = KINDS[kind](text, numbers, look);
  const hasPieces = kind === "square" || kind === "point";
  const hasSticks = kind === "hole" || kind === "pile";
  made.holds = hasPieces ? { [look.colour(0)]: numbers[0], [look.colour(1)]: numbers[1] }
    : hasSticks ? { stick: numbers[0] } : { [kind]: `${text} ${numbers}` };
  return made;
}

// The contents and places of the cells of a board, to be compared with the next one.
export function snapshot(board) {
  return board?.cells.map((row) => row.map((cell) => ({ holds: cell.holds, box: cell.getBoundingClientRect(),
    widths: [...cell.querySelectorAll(".steps i")].map((part) => part.style.width) })));
}

// Let pieces and sticks slide from their earlier cells, bars grow, and other changed cells swell.
export function slide(before, board, duration) {
  if (!before || before.length !== board?.cells.length) return;
  const moves = board.cells.flatMap((row, r) => row.flatMap((cell, c) => {
    const was = before[r][c];
    return was ? Object.keys(cell.holds).map((what) => ({ cell, was, what, rise: cell.holds[what] - was.holds[what], isSame: cell.holds[what] === was.holds[what] })) : [];
  })).filter(({ isSame }) => !isSame);
  const easing = { duration, easing: "ease-out" };
  for (const { cell, was, what, rise } of moves) {
    if (rise > 0) {
      const from = moves.find((one) => one.what === what && one.rise < 0 && !one.isTaken);
      const moved = cell.querySelector(`.piece.${what}:last-of-type, .${what}:last-of-type`) ?? cell;
      const way = from && ["x", "y"].map((k) => middle(from.was.box)[k] - middle(moved.getBoundingClientRect())[k]);
      const shift = way ? `translate(${way[0]}px, ${way[1]}px)` : "scale(.2)";
      if (from) from.isTaken = true;
      cell.style.zIndex = 1;
      moved.animate([{ transform: shift }, { transform: "none" }], { ...easing, pseudoElement: moved === cell ? "::after" : null });
    } else if (what === "bar") {
      cell.querySelectorAll(".steps i").forEach((part, k) => part.animate([{ width: was.widths[k] }, { width: part.style.width }], easing));
    } else if (!(rise < 0)) cell.animate([{ transform: "scale(1.15)" }, { transform: "none" }], easing);
  }
}

const middle = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

// The board of a player who isn't to move, from the one of the player to move: rows and bars change
// places, each with its player, and tracks are turned.
function turned(rows, look) {
  const swapped = (list, seatOf) => {
    const owned = list.filter((one) => seatOf(one) !== undefined);
    const now = (k) => owned.find((one) => (seatOf(one) + look.turns) % look.players === k);
    return list.map((one) => (owned.includes(one) ? now(seatOf(one)) ?? one : one));
  };
  const seatIn = (row) => row.find(({ kind }) => kind === "seat")?.numbers[0];
  if (rows.some((row) => seatIn(row) !== undefined)) return swapped(rows, seatIn);
  const hasPieces = rows.some((row) => row.some(({ kind }) => kind === "square" || kind === "point"));
  if (hasPieces) return [...rows].reverse();
  return rows.map((row) => swapped(row, ({ kind, numbers }) => (kind === "bar" ? numbers[3] : undefined)));
}

const CHANGING = new Set(["square", "point", "tile", "box"]); // kinds whose cells show a move

// The cells that a move changes, of boards before and after it: row, column, and the pieces that come.
export function changedCells(before, after, passes) {
  const swapped = (cell) => (cell.kind === "square" || cell.kind === "point"
    ? { ...cell, numbers: [cell.numbers[1], cell.numbers[0]] } : cell);
  const seen = passes ? turned(after, { turns: 1, players: 2 }).map((row) => row.map(swapped)) : after;
  return before.flatMap((row, r) => row.flatMap((cell, c) => {
    const rise = CHANGING.has(cell.kind) && seen[r][c]?.kind === cell.kind ? seen[r][c].numbers[0] - cell.numbers[0] : 0;
    return rise ? [{ r, c, rise }] : [];
  }));
}

function pieces(n, after, look, name = "") {
  const style = `piece ${look.colour(after)}${look.isSecond(after) ? " ring" : ""}`;
  if (n > MOST_PIECES) return el("span", { class: style }, String(n));
  return Array.from({ length: n }, () => el("span", { class: style }, name));
}

function rosette() {
  const petals = [0, 45, 90, 135].map((turn) =>
    ["ellipse", { cx: 15, cy: 15, rx: 12, ry: 3.2, transform: `rotate(${turn} 15 15)` }]);
  return picture("rosette", petals);
}

// A text stands for a number that isn't known.
function pile(text, n, colour) {
  if (text) return el("span", { class: `pile ${colour}` }, el("b", {}, text));
  const sticks = n <= MOST_STICKS ? Array.from({ length: n }, () => el("i", { class: "stick" })) : el("i", { class: "stick" });
  return el("span", { class: `pile ${colour}` }, sticks, el("b", {}, String(n)));
}

function bar(text, kept, risked, of, colour) {
  const steps = el("span", { class: "steps" }, strip("kept", kept / of), strip("risked", risked / of));
  if (of <= MOST_STEPS) {
    steps.classList.add("units");
    steps.style.setProperty("--steps", of);
  }
  return el("span", { class: `bar ${colour}` }, steps,
    el("span", { class: "count" }, el("b", {}, text || String(kept)), risked > 0 && el("em", {}, `+${risked}`), el("small", {}, ` / ${of}`)));
}

// ---- boards of games without cells

// A field: its number on a scale, or its members as tiles.
function card({ title, about, tiles, text, value, range: [least, most] = [0, 0] }) {
  const scale = !tiles && most - least > 1 && el("span", { class: "scale" }, strip(null, (value - least) / (most - least)));
  return el("div", { class: "card" }, title && el("span", { class: "name" }, title),
    tiles ? el("span", { class: "tiles" }, tiles.map(([label, isThere]) => el("span", { class: isThere ? "tile" : "tile gone" }, label)))
      : el("strong", {}, text),
    scale, about && el("small", {}, about));
}

const OTHERS = /rival|other|their|oppo|enemy|\bhis\b|yours/i;
const OWNERS = /^(mine|theirs?|my|yours?|own|me|rivals?|others?|opponents?)$/i; // names that only say whose a number is
const OWN = /^(my|the mover's|mover's|own|your|mine:?)\s+/i;

// A board from the fields of a position: a card for each, those of each player by themselves.
export function drawFields(game, state, name, look) {
  const row = game.row(state);
  const groups = new Map(); // the fields of a tuple together
  game.fieldNames.forEach((field, f) => {
    const [, whole] = field.match(/^(.*?)(\.\d+)?$/s);
    groups.set(whole, [...(groups.get(whole) ?? []), f]);
  });
  const isShown = (f) => !game.head.dice_fields?.includes(f) && row[f] !== game.head.no_throw && !isConstant(game, f);
  const cards = [...groups].flatMap(([field, list]) => (!list.some(isShown) ? [] : owned(game, field, list)))
    .map(({ owner, field, list, alike }) => ({ owner, made: fieldCard(game, row, field, list, owner, alike) }));
  const seats = [...game.zeros.keys()].sort((a, b) => (a + look.turns) % look.players - (b + look.turns) % look.players);
  const section = (owner, title) => {
    const some = cards.filter((one) => one.owner === owner);
    return some.length > 0 && el("div", { class: `owned ${owner === null ? "" : look.colour(owner)}` }, title, some.map(({ made }) => made));
  };
  const isOfMover = look.turns > 0 && cards.some(({ owner }) => owner === null);
  const isMany = new Set(cards.map(({ owner }) => owner)).size > 2; // rows
  return el("div", { class: isMany ? "fields many" : "fields", role: "img", tabindex: 0, "aria-label": name },
    cards.some(({ owner }) => owner !== null) && seats.map((after) => section(after, KINDS.seat("", [after], look))), section(null, ""),
    isOfMover && el("small", {}, SAY.seenBy(look.name(0))), !cards.length && blanks(game));
}

// A field that never changes says nothing.
function isConstant(game, f) {
  const [least, most] = game.rangeOf(f);
  return least === most;
}

// Dice before their throw, in place of fields; without dice nothing ever changes.
function blanks(game) {
  const cells = Object.values(game.head.throw_dice ?? {}).reduce((most, one) => (one.length > most.length ? one : most), []);
  return cells.length ? el("div", { class: "dice" }, cells.map(({ 2: sides }) => die(0, "", sides ?? 6)))
    : el("p", { class: "words" }, SAY.onePosition);
}

// The cards of a field: 0 is the mover's, 1 the next player's, null that of all. A tuple with a number
// for each player, or for each other player, is a card for each, also where the numbers stay in place at
// the end of a turn. `alike` are the fields with the same number of other players: their bars have one scale.
function owned(game, field, list) {
  const owners = list.map((f) => ownerOf(game, f));
  const { players } = game.head;
  const first = players - list.length;
  if (players > 2 && owners[0] === null && (first === 0 || first === 1)) return list.map((f, k) => ({ owner: first + k, field, list: [f], alike: list }));
  return [...new Set(owners)].map((owner) => {
    const own = list.filter((_, k) => owners[k] === owner);
    return { owner, field, list: own, alike: owner === null ? [own[0]] : circle(game, own[0]) };
  });
}

// The number of a field with those of the other players, as the next ones see them.
function circle(game, f) {
  const found = [f];
  for (let k = 1; k < game.head.players; k++) {
    const next = game.head.seen_by_next[found.at(-1)];
    if (!(next >= 0)) return [f];
    found.push(next);
  }
  return found;
}

// The number of seats from the mover to the player of a field; null for one of all.
function ownerOf(game, f) {
  const fields = circle(game, f);
  if (game.head.players < 2 || fields.length === 1 || new Set(fields).size < fields.length) return null;
  const named = fields.filter((one) => !OTHERS.test(game.fieldNames[one].split(".")[0]));
  const own = named.length === 1 ? named[0] : Math.min(...fields);
  return fields.indexOf(own);
}

// The card of a field. The fields of all players have one title: their names may say only whose they are.
function fieldCard(game, row, field, list, owner, alike) {
  const [f] = list;
  const abouts = game.head.fields_about ?? {};
  const [whole] = game.fieldNames[owner > 0 ? circle(game, f)[owner] ?? f : f].split(".");
  const own = abouts[whole] ?? "";
  const isNamed = owner === null || !OWNERS.test(whole);
  const title = isNamed ? whole.replaceAll("_", " ") : OWN.test(own) ? own.replace(OWN, "") : "";
  const about = owner === null || (owner === 0 && game.fieldNames.includes(whole)) ? (title && !isNamed ? "" : own) : "";
  const texts = list.map((each) => game.valueText(each, row[each]));
  if (list.length > 1) return card({ title, about, tiles: texts.map((text, i) => [text, row[list[i]] !== 0]) });
  const members = game.members?.(f, row[f]);
  if (members) return card({ title, about, tiles: members.map(({ text, isIn }) => [text, isIn]) });
  const ranges = alike.map((each) => game.rangeOf(each));
  const range = [Math.min(...ranges.map(([least]) => least)), Math.max(...ranges.map(([, most]) => most))];
  return card({ title, about, text: texts[0] || SAY.none, value: row[f], range });
}
