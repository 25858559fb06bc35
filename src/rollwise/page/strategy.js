// The strategy as a map that can be explored: two fields go across and down, the others are chosen.

import { el, fill, fillSelect, labelled, select, table } from "./dom.js";
import { SAY } from "./strings.js";
import { drawMap, swatch } from "./map.js";

const MOST_LISTED = 400; // values of a field that are a list; more of them are typed
const MOST_ROWS = 120; // of the cheat sheet
const MOST_NAMED = 9; // actions in the legend

export class StrategyView {
  constructor({ game, figures, speech, play, open }) {
    Object.assign(this, { game, figures, speech, play, open });
    this.element = el("div", { class: "strategy" });
    this.isMade = false;
  }

  // What is shown when somebody first looks.
  shown() {
    if (!this.isMade) this.#make();
    this.isMade = true;
    this.#draw();
  }

  #make() {
    const { game } = this;
    const { fieldNames } = game;
    this.at = [...game.head.map.at];
    this.throw = null;
    this.valuesOf = fieldNames.map((_, f) => game.valuesOf(f));
    const varying = fieldNames.map((_, f) => f).filter((f) => this.valuesOf[f].length > 1);
    const axes = game.head.map.axes.filter((f) => varying.includes(f));
    [this.x, this.y] = [axes[0] ?? varying[0] ?? 0, axes[1] ?? varying.find((f) => f !== axes[0])];
    const named = varying.map((f) => [f, fieldNames[f]]);
    this.controls = varying.map((f) => [f, this.#control(f)]);
    this.throwControl = select([], undefined, (text) => {
      this.throw = text ? text.split(" ").map(Number) : null;
      this.#draw();
    });
    this.axisControls = [
      select(named, this.x, (f) => this.#turn(Number(f), this.y === Number(f) ? this.x : this.y)),
      select(named, this.y, (f) => this.#turn(this.x === Number(f) ? this.y : this.x, Number(f))),
    ];
    this.canvas = el("canvas", { tabindex: 0, role: "img", onclick: (e) => this.#click(e), onkeydown: (e) => this.#key(e) });
    this.legend = el("ul", { class: "legend" });
    this.advice = el("section", { class: "panel", "aria-live": "polite", "aria-label": SAY.position });
    this.sheet = el("section", { class: "sheet" });
    fill(this.element,
      el("div", { class: "columns" },
        el("section", { "aria-label": SAY.map },
          varying.length > 1 && el("div", { class: "controls" },
            labelled(SAY.across, this.axisControls[0]), labelled(SAY.down, this.axisControls[1])),
          el("div", { class: "scroll map" }, this.canvas), this.legend),
        el("div", {},
          el("div", { class: "controls" }, this.controls.map(([f, control]) => labelled(fieldNames[f], control)),
            game.isLayered && labelled(SAY.throwField, this.throwControl)),
          el("div", { class: "tools" },
            el("button", { type: "button", onclick: () => this.#toGame() }, SAY.fromGame),
            el("button", { type: "button", onclick: () => this.#playFrom() }, SAY.playFrom)),
          this.advice)),
      this.sheet);
  }

  #control(f) {
    const values = this.valuesOf[f];
    const set = (text) => {
      this.at[f] = Number(text);
      this.#draw();
    };
    const text = (value) => (value === this.game.head.no_throw ? SAY.beforeThrow : this.game.valueText(f, value));
    if (values.length <= MOST_LISTED) return select(values.map((v) => [v, text(v)]), this.at[f], set);
    const input = el("input", { type: "number", min: values[0], max: values.at(-1), onchange: () => set(input.value) });
    return input;
  }

  #turn(x, y) {
    [this.x, this.y] = [x, y];
    this.axisControls[0].value = x;
    this.axisControls[1].value = y;
    this.#draw();
  }

  #toGame() {
    const { state } = this.play.session;
    this.at = this.game.row(state);
    this.throw = this.game.thrown(state);
    this.#draw();
  }

  #playFrom() {
    const state = this.#here();
    if (state < 0) return;
    this.open("play");
    this.play.begin(state);
  }

  // The state that is looked at; -1 where no play comes to it.
  #here() {
    return this.#withThrow(this.game.find(this.at));
  }

  #withThrow(position) {
    const { game } = this;
    if (position < 0 || !game.isLayered || this.throw === null) return position;
    const wanted = this.throw.join(" ");
    const targets = game.targetsFor(position);
    for (let k = game.outcomeStart[position]; k < game.outcomeStart[position + 1]; k++) {
      const s = targets[k];
      if (s >= game.nPositions && game.thrown(s).join(" ") === wanted) return s;
    }
    return -1;
  }

  // The states of the map by their place along the axes.
  #cells() {
    const { game, x, y, at } = this;
    const { columns } = game;
    const others = columns.map((_, f) => f).filter((f) => f !== x && f !== y);
    let here = null; // the positions that agree in all other fields
    for (const f of others) {
      const [column, number] = [columns[f], at[f]];
      if (here) here = here.filter((s) => column[s] === number);
      else {
        here = [];
        for (let s = 0; s < column.length; s++) if (column[s] === number) here.push(s);
      }
    }
    const cells = new Map();
    for (const s of here ?? columns[x].keys()) {
      const found = this.#withThrow(s);
      if (found < 0) continue;
      const row = y === undefined ? 0 : columns[y][s];
      if (!cells.has(row)) cells.set(row, new Map());
      cells.get(row).set(columns[x][s], found);
    }
    return cells;
  }

  #draw() {
    const { game, x, y, at } = this;
    if (game.isLayered && this.throw === null) this.#firstThrow();
    for (const [f, control] of this.controls) control.value = at[f];
    this.#showThrows();
    const cells = this.#cells();
    const xs = [...new Set([...cells.values()].flatMap((row) => [...row.keys()]))].sort((a, b) => a - b);
    const ys = [...cells.keys()].sort((a, b) => a - b);
    const best = (s) => {
      if (!game.isChoice(s)) return null;
      const kind = game.menu(s)[game.best(s)];
      return game.nameOf.get(game.labels[kind]);
    };
    const rows = ys.map((row) => xs.map((column) => {
      const s = cells.get(row).get(column);
      return s === undefined ? undefined : best(s);
    }));
    this.ranked = ranked(rows);
    this.shape = drawMap(this.canvas, {
      xs, ys, rows, ranked: this.ranked,
      xName: game.fieldNames[x], yName: y === undefined ? "" : game.fieldNames[y],
      at: [at[x], y === undefined ? 0 : at[y]],
    });
    this.canvas.setAttribute("aria-label", SAY.mapLabel(game.fieldNames[x], game.fieldNames[y] ?? ""));
    fill(this.legend, this.ranked.slice(0, MOST_NAMED).map((name, k) => el("li", {}, swatch(k), name)),
      this.ranked.length > MOST_NAMED && el("li", {}, swatch(MOST_NAMED), SAY.other));
    this.#showAdvice();
    this.#showSheet(xs, ys, rows);
  }

  #firstThrow() {
    const position = this.game.find(this.at);
    const outcomes = position < 0 ? [] : this.game.outcomes(position, 0);
    const first = outcomes.find((o) => !o.isOver && this.game.isChoice(o.target)) ?? outcomes[0];
    this.throw = first ? this.game.thrown(first.target) : null;
  }

  #showThrows() {
    const { game } = this;
    if (!game.isLayered) return;
    const position = game.find(this.at);
    const options = position < 0 ? []
      : game.outcomes(position, 0).map((o) => [game.thrown(o.target).join(" "), this.speech.throwText(o)]);
    const chosen = this.throw ? this.throw.join(" ") : "";
    if (!options.some(([value]) => value === chosen)) options.push([chosen, chosen || SAY.beforeThrow]);
    fillSelect(this.throwControl, options, chosen);
  }

  #showAdvice() {
    const { game, play, figures } = this;
    const s = this.#here();
    if (s < 0) {
      fill(this.advice, el("p", {}, SAY.noPosition));
      return;
    }
    const position = game.position(s);
    fill(this.advice, el("h2", {}, SAY.position), play.position(s),
      el("p", {}, `${figures.unit}: `, el("strong", {}, figures.level(game.value(s)))),
      play.choiceTable(s, SAY.advice),
      position !== s && el("details", {}, el("summary", {}, SAY.afterThrow), this.#throwTable(position)));
  }

  #throwTable(position) {
    const { game, figures } = this;
    const rows = game.outcomes(position, 0).map((o) => [this.speech.throwText(o), o.chance.toFixed(4),
      game.names(o.target)[game.best(o.target)], figures.level(game.value(o.target))]);
    return table(SAY.afterThrow, [SAY.throw, SAY.chance, SAY.choice, figures.unit], rows, { numbers: [1, 3] });
  }

  // The map in words: what to do along each row, rows that are alike as one.
  #showSheet(xs, ys, rows) {
    const { game, x, y } = this;
    const lines = [];
    rows.forEach((row, i) => {
      const text = this.#inWords(xs, row);
      if (!text) return;
      if (lines.length && lines.at(-1).text === text) lines.at(-1).numbers.push(ys[i]);
      else lines.push({ numbers: [ys[i]], text });
    });
    const fixedFields = game.fieldNames.flatMap((name, f) =>
      f === x || f === y || this.valuesOf[f].length < 2 || this.at[f] === game.head.no_throw ? [] : [`${name} ${game.valueText(f, this.at[f])}`]);
    if (this.throw) fixedFields.push(`${SAY.thrown} ${this.throw.join(" ")}`);
    const yName = y === undefined ? "" : game.fieldNames[y];
    fill(this.sheet, el("h2", {}, SAY.sheet), el("p", {}, SAY.sheetNote(game.fieldNames[x], yName, fixedFields.join(", "))),
      table(SAY.sheet, [yName, game.fieldNames[x]], lines.slice(0, MOST_ROWS)
        .map(({ numbers, text }) => [yName ? this.#told(y, numbers) : "", text])),
      lines.length > MOST_ROWS && el("p", {}, SAY.sheetCut(MOST_ROWS)), this.#easier());
  }

  // A row of the map: "roll 0–20; hold 21–24".
  #inWords(xs, row) {
    const parts = [];
    row.forEach((name, i) => {
      if (name === undefined || name === null) return;
      const last = this.#hasWords(this.x) ? parts.find((part) => part.name === name) : parts.at(-1);
      if (last?.name === name) last.numbers.push(xs[i]);
      else parts.push({ name, numbers: [xs[i]] });
    });
    const colon = this.#hasWords(this.x) ? ":" : "";
    return parts.map(({ name, numbers }) => `${name}${colon} ${this.#told(this.x, numbers)}`).join("; ");
  }

  #hasWords(f) {
    return Object.keys(this.game.head.values[f]).length > 0;
  }

  // Numbers of a field that follow one another; each by itself, where they mean something else.
  #told(f, numbers) {
    if (this.#hasWords(f)) return numbers.map((number) => this.game.valueText(f, number)).join(" / ");
    return numbers.length === 1 ? String(numbers[0]) : `${numbers[0]}–${numbers.at(-1)}`;
  }

  // Ways to play that are easier to remember, and what they lose.
  #easier() {
    const { head } = this.game;
    const rows = head.policies.filter(({ about }) => about).map(({ name, about }) => {
      const lost = head.losses.find((one) => one.name === name);
      return [name, about, lost ? this.figures.cost(lost.loss) : ""];
    });
    return rows.length > 0 && [el("h2", {}, SAY.easier),
      table(SAY.easier, [SAY.name, SAY.rule, SAY.losesAGame(this.figures.points)], rows, { numbers: [2] })];
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
    this.at[this.x] = column;
    if (this.y !== undefined) this.at[this.y] = row;
    this.#draw();
  }
}

// The names of actions, the most frequent first.
function ranked(rows) {
  const counts = new Map();
  for (const name of rows.flat()) if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
}
