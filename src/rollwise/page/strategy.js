// The strategy as an explorable map: two fields go across and down, the others are chosen.

import { button, el, fill, fillSelect, labelled, select, table } from "./dom.js";
import { drawMap, swatch } from "./map.js";
import { Lost } from "./open_game.js";
import { SAY } from "./strings.js";

const MOST_LISTED = 400; // values of a field in a list; more of them are typed
const MOST_ROWS = 120; // of the cheat sheet
const MOST_NAMED = 9; // actions in the legend

export class StrategyView {
  // `slices` provides the cells: `WholeSlices`, or `AskedSlices` of a game with a server.
  constructor({ game, figures, speech, play, open, slices }) {
    Object.assign(this, { game, figures, speech, play, open, slices });
    this.element = el("div", { class: "strategy" });
    this.isMade = false;
    this.asked = 0; // how often something was to be drawn
  }

  // The first view.
  shown() {
    if (!this.isMade) this.#make();
    this.isMade = true;
    this.#draw();
  }

  #make() {
    this.place = this.slices.first;
    this.axes = this.slices.axes;
    this.controls = this.game.fieldNames.map((_, f) => this.#control(this.game.label(f), f));
    this.throwControl = this.#chosen(SAY.throwField, (text) => { this.place.thrown = text ? text.split(" ").map(Number) : null; });
    this.leftControl = this.#chosen(SAY.rollsLeft, (text) => { this.place.left = Number(text); });
    this.axisControls = [SAY.across, SAY.down].map((name, k) => this.#chosen(name, (f) => this.#turn(k, Number(f))));
    this.axisPlace = el("div", { class: "controls" }, this.axisControls.map(({ element }) => element));
    this.canvas = el("canvas", { tabindex: 0, role: "img", onclick: (e) => this.#click(e), onkeydown: (e) => this.#key(e) });
    this.legend = el("ul", { class: "legend" });
    this.note = el("p", { class: "made", role: "status" });
    this.advice = el("section", { class: "panel", "aria-live": "polite", "aria-label": SAY.position });
    this.sheet = el("section", { class: "sheet" });
    fill(this.element,
      this.mapPlace = el("section", { "aria-label": SAY.map }, this.axisPlace,
        el("div", { class: "map" }, this.canvas), this.legend, this.note),
      el("div", { class: "controls" }, this.controls.map(({ element, typed, tiles }) => [element, typed, tiles]),
        this.throwControl.element, this.leftControl.element),
      el("div", { class: "tools" }, button(SAY.fromGame, () => this.#toGame()), button(SAY.onBoard, () => this.slice.state >= 0 && this.play.look(this.slice.state)), button(SAY.playFrom, () => this.#playFrom())),
      this.advice, this.sheet);
  }

  // A list, filled with the map; hidden while there is no choice.
  #chosen(name, set) {
    const list = select([], undefined, (text) => {
      set(text);
      this.#draw();
    });
    return { list, element: labelled(name, list), known: "" };
  }

  #offer(control, options, chosen) {
    const known = JSON.stringify(options);
    if (known !== control.known) fillSelect(control.list, options);
    control.known = known;
    control.list.value = chosen;
    control.element.hidden = options.length < 2;
  }

  // The input of a field: a list of its numbers, or a typed number where there are many.
  #control(name, f) {
    const set = (text) => { this.place.at[f] = Number(text); };
    const control = this.#chosen(name, set);
    const input = el("input", { type: "number", onchange: () => { set(input.value); this.#draw(); } });
    const typed = labelled(name, input);
    const tiles = el("div", { class: "tiles", role: "group", "aria-label": name });
    return Object.assign(control, { input, typed, tiles });
  }

  #offerNumbers(f, { numbers, place, text }) {
    const control = this.controls[f];
    const members = this.game.members?.(f, place.at[f]);
    control.tiles.hidden = !members;
    if (members) {
      control.element.hidden = control.typed.hidden = true;
      fill(control.tiles, el("span", {}, this.game.label(f)), members.map(({ bit, text, isIn }) => button(text, () => {
        place.at[f] += isIn ? -(2 ** bit) : 2 ** bit;
        this.#draw();
      }, { class: isIn ? "tile" : "tile gone", "aria-pressed": String(isIn) })));
      return;
    }
    const some = numbers[f];
    const isTyped = some.length > MOST_LISTED;
    const name = (n) => (n === this.game.head.no_throw ? SAY.beforeThrow : text(f, n));
    this.#offer(control, isTyped ? [] : some.map((n) => [n, name(n)]), place.at[f]);
    control.typed.hidden = !isTyped;
    Object.assign(control.input, { min: some[0], max: some.at(-1), value: place.at[f] });
  }

  #turn(k, f) {
    const { x, y } = this.slice;
    const before = [x, y];
    this.axes = before.map((old, i) => (i === k ? f : old === f ? before[k] : old));
  }

  #toGame() {
    this.place = this.slices.placeOf(this.play.seen?.state ?? this.play.session?.state ?? this.game.start);
    this.#draw();
  }

  #playFrom() {
    if (this.slice.state < 0) return;
    this.open("coach", false);
    this.play.begin(this.slice.state);
  }

  // Draw the current request; late answers to earlier ones are dropped.
  async #draw() {
    const asked = ++this.asked;
    try {
      const slice = await this.slices.slice(this.place, this.axes);
      if (asked === this.asked) this.#show(slice);
    } catch (error) {
      if (asked !== this.asked) return;
      fill(this.advice, el("p", { class: "warning" }, error.message),
        button(SAY.goOn, () => this.#draw()));
      if (!(error instanceof Lost)) throw error;
    }
  }

  #show(slice) {
    const { game } = this;
    Object.assign(this, { slice, place: slice.place });
    const { x, y, cells, place } = slice;
    const isSet = (f) => Boolean(game.members?.(f, 0));
    const varying = game.fieldNames.flatMap((_, f) => ((slice.numbers[f].length > 1 && !isSet(f)) || f === x || f === y ? [[f, game.label(f)]] : []));
    this.mapPlace.hidden = isSet(x) || (y === undefined && slice.numbers[x].length < 2);
    this.axisControls.forEach((control, k) => this.#offer(control, varying, [x, y][k]));
    this.controls.forEach((_, f) => this.#offerNumbers(f, slice));
    const thrown = place.thrown ? place.thrown.join(" ") : "";
    const throws = slice.throws.map(([numbers, told]) => [numbers.join(" "), told]);
    if (game.head.has_throws && !throws.some(([value]) => value === thrown)) throws.push([thrown, thrown || SAY.beforeThrow]);
    this.#offer(this.throwControl, throws, thrown);
    this.#offer(this.leftControl, slice.lefts.map((n) => [n, String(n)]), place.left);
    const xs = [...new Set([...cells.values()].flatMap((row) => [...row.keys()]))].sort((a, b) => a - b);
    const ys = [...cells.keys()].sort((a, b) => a - b);
    const rows = ys.map((row) => xs.map((column) => cells.get(row).get(column)));
    this.ranked = ranked(rows);
    const yName = y === undefined ? "" : game.label(y);
    this.shape = drawMap(this.canvas, {
      xs, ys, rows, ranked: this.ranked, at: [place.at[x], y === undefined ? 0 : place.at[y]],
      xTexts: xs.map((n) => this.#text(x, n)), yTexts: ys.map((n) => (y === undefined ? "" : this.#text(y, n))),
    });
    this.canvas.setAttribute("aria-label", SAY.mapLabel(game.label(x), yName));
    fill(this.legend, this.ranked.slice(0, MOST_NAMED).map((name, k) => el("li", {}, swatch(k), name)),
      this.ranked.length > MOST_NAMED && el("li", {}, swatch(MOST_NAMED), SAY.other));
    this.note.textContent = slice.leftOut ? SAY.mapCut(slice.leftOut) : "";
    this.#showAdvice();
    this.#showSheet(xs, ys, rows);
  }

  #showAdvice() {
    const { game, play, figures } = this;
    const { state, place } = this.slice;
    if (state < 0) {
      fill(this.advice, el("p", {}, SAY.noPosition));
      return;
    }
    fill(this.advice, el("h2", {}, SAY.position), play.position(state),
      el("p", {}, `${figures.unit}: `, el("strong", {}, figures.level(game.value(state)))),
      play.coachView.choiceTable(state, SAY.advice), place.thrown && this.#afterThrows(state));
  }

  // The best choice after each throw, computed on first view.
  #afterThrows(state) {
    const rows = el("div");
    const found = async () => {
      if (rows.firstChild) return;
      const told = await this.slices.afterThrows(state).catch((error) => error);
      if (told instanceof Error) fill(rows, el("p", { class: "warning" }, told.message));
      else fill(rows, table(SAY.afterThrow, [SAY.throw, SAY.chance, SAY.choice, this.figures.unit],
        told.map(([name, chance, action, value]) => [name, chance.toFixed(4), action, this.figures.level(value)]), { numbers: [1, 3] }));
    };
    return el("details", { ontoggle: found }, el("summary", {}, SAY.afterThrow), rows);
  }

  // The map in words: the best actions along each row, equal rows as one.
  #showSheet(xs, ys, rows) {
    if (this.mapPlace.hidden) {
      fill(this.sheet, this.#easier());
      return;
    }
    const { game, slice } = this;
    const { x, y, place, numbers, text: valueText } = slice;
    const lines = [];
    rows.forEach((row, i) => {
      const text = this.#inWords(xs, row);
      if (!text) return;
      if (lines.length && lines.at(-1).text === text) lines.at(-1).numbers.push(ys[i]);
      else lines.push({ numbers: [ys[i]], text });
    });
    const fixedFields = game.fieldNames.flatMap((_, f) =>
      f === x || f === y || numbers[f].length < 2 || place.at[f] === game.head.no_throw ? [] : [`${game.label(f)} ${valueText(f, place.at[f])}`]);
    if (place.thrown) fixedFields.push(`${SAY.thrown} ${place.thrown.join(" ")}`);
    if (slice.lefts.length) fixedFields.push(`${SAY.rollsLeft} ${place.left}`);
    const yName = y === undefined ? "" : game.label(y);
    fill(this.sheet, el("h2", {}, SAY.sheet), el("p", {}, SAY.sheetNote(game.label(x), yName, fixedFields.join(", "))),
      table(SAY.sheet, [yName, game.label(x)], lines.slice(0, MOST_ROWS)
        .map(({ numbers, text }) => [yName ? this.#told(y, numbers) : "", text])),
      lines.length > MOST_ROWS && el("p", {}, SAY.sheetCut(MOST_ROWS)), this.#easier());
  }

  // A row of the map: "roll 0–20; hold 21–24".
  #inWords(xs, row) {
    const { x } = this.slice;
    const hasWords = this.slice.hasWords(x);
    const parts = [];
    row.forEach((name, i) => {
      if (name === undefined || name === null) return;
      const last = hasWords ? parts.find((part) => part.name === name) : parts.at(-1);
      if (last?.name === name) last.numbers.push(xs[i]);
      else parts.push({ name, numbers: [xs[i]] });
    });
    const colon = hasWords ? ":" : "";
    return parts.map(({ name, numbers }) => `${name}${colon} ${this.#told(x, numbers)}`).join("; ");
  }

  // Runs of successive numbers of a field; single numbers, where they have meanings.
  #told(f, numbers) {
    if (this.slice.hasWords(f)) return numbers.map((number) => this.slice.text(f, number)).join(" / ");
    const thrown = numbers.filter((number) => number !== this.game.head.no_throw);
    if (thrown.length < numbers.length) return [SAY.beforeThrow, thrown.length && this.#told(f, thrown)].filter(Boolean).join(" / ");
    return numbers.length === 1 ? String(numbers[0]) : `${numbers[0]}–${numbers.at(-1)}`;
  }

  // A number or word in a field on an axis; before a throw there is none.
  #text(f, n) {
    return n === this.game.head.no_throw ? "–" : this.slice.text(f, n);
  }

  // Ways to play that are easier to remember, and their losses.
  #easier() {
    const { head } = this.game;
    const rows = head.policies.filter(({ about }) => about).map(({ name, about }) => {
      const lost = head.losses.find((one) => one.name === name);
      return [name, about, lost ? this.figures.cost(lost.loss) : ""];
    });
    return rows.length > 0 && [el("h2", {}, SAY.easier),
      table(SAY.easier, [SAY.name, SAY.rule, SAY.losesAGame(this.figures.points)], rows, { numbers: [2] }),
      head.losses_rest_on_ties && el("p", {}, SAY.restsOnTies)];
  }

  #click(event) {
    const found = this.shape.at(event.offsetX, event.offsetY);
    if (found) this.#goTo(...found);
  }

  #key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const next = this.shape.next(step);
    if (next) this.#goTo(...next);
  }

  #goTo(column, row) {
    const { x, y } = this.slice;
    this.place.at[x] = column;
    if (y !== undefined) this.place.at[y] = row;
    this.#draw();
  }
}

// The names of actions, the most frequent first.
function ranked(rows) {
  const counts = new Map();
  for (const name of rows.flat()) if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
}
