// The board as an editor: a tap on a cell leads to another position in which this cell differs, and a
// piece can be dragged. Only positions of the game are offered.

import { pressable } from "./dom.js";

const MOST_NUMBERS = 400; // of a field
const EDITED = new Set(["square", "point", "tile", "box", "die", "hole", "pile", "bar"]);

// Rows that differ from one in a field, or in a member of a set; in all its numbers, or by one.
function singles(game, row, isFar) {
  const found = [];
  row.forEach((number, f) => {
    const put = (value) => found.push(row.with(f, value));
    const members = game.members(f, number);
    if (members) for (const { bit, isIn } of members) put(number + (isIn ? -(2 ** bit) : 2 ** bit));
    else if (!isFar) [number - 1, number + 1].forEach(put);
    else {
      const numbers = game.valuesOf(f);
      if (numbers.length <= MOST_NUMBERS) numbers.filter((value) => value !== number).forEach(put);
    }
  });
  return found;
}

// The fields of positions near one, with their boards, those with the fewest changed cells first.
async function near(game, state, isFar) {
  const row = game.row(state);
  const before = game.board(state).flat().map(({ numbers }) => String(numbers));
  const rows = [...singles(game, row, isFar), ...singles(game, row, false).flatMap((one) => singles(game, one, false))];
  const known = new Set([String(row)]);
  const found = await game.boards(rows.filter((one) => !known.has(String(one)) && known.add(String(one))));
  return found.map(({ at, board }) => ({ at, board, changes: board.flat().filter(({ numbers }, i) => String(numbers) !== before[i]).length }))
    .sort((a, b) => a.changes - b.changes);
}

const order = (a, b) => a.reduce((sign, one, i) => sign || one - b[i], 0);

// The fields after a tap on a cell, at a share of its width; null without such a position.
export async function tapped(game, state, [r, c], share) {
  const now = game.board(state)[r][c].numbers;
  const byNumbers = new Map();
  for (const one of await near(game, state, true)) {
    const { numbers } = one.board[r][c];
    if (order(numbers, now) && !byNumbers.has(String(numbers))) byNumbers.set(String(numbers), { ...one, numbers });
  }
  let options = [...byNumbers.values()].sort((a, b) => a.changes - b.changes);
  options = options.filter(({ changes }) => changes === options[0].changes).sort((a, b) => order(a.numbers, b.numbers));
  if (!options.length) return null;
  if (game.board(state)[r][c].kind !== "bar" || share === null) return (options.find(({ numbers }) => order(numbers, now) > 0) ?? options[0]).at;
  const [kept, , of] = now; // a tap behind the kept part of a bar puts the rest at risk, where the game allows it
  const wanted = Math.round(share * of);
  const risked = options.filter(({ numbers }) => numbers[0] === kept);
  const some = wanted > kept && risked.length ? risked : options.filter(({ numbers }) => numbers[1] === now[1]);
  const gap = ({ numbers }) => Math.abs(numbers[0] + (some === risked ? numbers[1] : 0) - wanted);
  return some.length ? some.reduce((best, one) => (gap(one) < gap(best) ? one : best)).at : options[0].at;
}

// The fields after a piece was dragged from a cell to another one; null without such a position.
export async function dragged(game, state, [r, c], [to, at]) {
  const before = game.board(state);
  const rise = (board, row, column, k) => board[row][column].numbers[k] - before[row][column].numbers[k];
  const moved = ({ board }) => [0, 1].some((k) => rise(board, r, c, k) < 0 && rise(board, to, at, k) > 0);
  return (await near(game, state, false)).find(moved)?.at ?? null;
}

// Let a board be edited: `tap` and `drag` are told the rows and columns of cells.
export function editable(board, rows, name, { tap, drag }) {
  const places = rows.flatMap((row, r) => row.flatMap(({ kind, text, numbers }, c) => (EDITED.has(kind) ? [{ r, c, cell: board.cells[r][c], label: `${text || kind} ${numbers.join(" ")}` }] : [])));
  const under = ({ clientX, clientY }) => places.find(({ cell }) => cell.contains(document.elementFromPoint(clientX, clientY)));
  board.setAttribute("role", "group");
  board.classList.add("edited");
  for (const { r, c, cell, label } of places) {
    pressable(cell, () => tap([r, c], null), { "aria-label": name(r + 1, c + 1, label) });
  }
  let from = null;
  board.addEventListener("pointerdown", (event) => { from = under(event); });
  board.addEventListener("pointerup", (event) => {
    const to = under(event);
    if (!from || !to) return;
    const steps = to.cell.querySelector(".steps")?.getBoundingClientRect();
    const share = steps && event.clientX <= steps.right ? (event.clientX - steps.x) / steps.width : null;
    if (from === to) tap([to.r, to.c], share);
    else drag([from.r, from.c], [to.r, to.c]);
    from = null;
  });
}
