// The data of the map: positions that differ from one along two fields, with their best actions.
//
// The key of a slice is a place: the fields of a position, its throw (null before a throw, and where
// the throw is among the fields), and the rolls left in games with a pool of dice.
// A slice has the `state` (-1 if it is unreachable), the fields along the axes, the numbers of each
// field, the throws to choose from, and the cells: by the number along y, by the number along x,
// the best action there, null without a choice.

const THROW_SIGN = " ";

// The slices of a game within the page.
export class WholeSlices {
  constructor(game, speech) {
    Object.assign(this, { game, speech });
    this.first = { at: [...game.head.map.at], thrown: null, left: null };
  }

  // The numbers of each field, found at the first view: it takes a while.
  get numbers() {
    this.found ??= this.game.fieldNames.map((_, f) => this.game.valuesOf(f));
    return this.found;
  }

  get axes() {
    const { game, numbers } = this;
    const varying = numbers.map((_, f) => f).filter((f) => numbers[f].length > 1 && !game.members(f, 0));
    const axes = game.head.map.axes.filter((f) => varying.includes(f));
    const across = axes[0] ?? varying[0] ?? 0;
    return [across, axes[1] ?? varying.find((f) => f !== across)];
  }

  // Where a state is.
  placeOf(state) {
    return { at: this.game.row(state), thrown: this.game.thrown(state), left: null };
  }

  #throwsIn(position) {
    return this.game.isLayered && position >= 0 ? this.game.outcomes(position, 0) : [];
  }

  // The state at a place, by default after the first throw with a choice; -1 without one.
  async stateAt({ at, thrown }) {
    const position = this.game.find(at);
    return this.#after(position, thrown ?? this.#firstThrow(this.#throwsIn(position)));
  }

  async slice({ at, thrown }, [x, y] = this.axes) {
    const { game, numbers } = this;
    const position = game.find(at);
    const throws = this.#throwsIn(position);
    const chosen = thrown ?? this.#firstThrow(throws);
    const cells = new Map();
    for (const s of this.#positions(at, x, y)) {
      const found = this.#after(s, chosen);
      if (found < 0) continue;
      const row = y === undefined ? 0 : game.columns[y][s];
      if (!cells.has(row)) cells.set(row, new Map());
      cells.get(row).set(game.columns[x][s], this.#best(found));
    }
    return {
      place: { at, thrown: chosen, left: null }, state: this.#after(position, chosen), x, y, numbers, cells, leftOut: 0,
      throws: throws.map((o) => [game.thrown(o.target), this.speech.throwText(o)]), lefts: [],
      text: (f, number) => game.valueText(f, number),
      hasWords: (f) => Object.keys(game.head.values[f]).length > 0 || game.head.sets[f] !== null,
    };
  }

  // The positions equal to a place in all fields except the axes.
  #positions(at, x, y) {
    const { columns } = this.game;
    let here = null;
    for (const f of columns.keys()) {
      if (f === x || f === y) continue;
      const [column, number] = [columns[f], at[f]];
      if (here) here = here.filter((s) => column[s] === number);
      else {
        here = [];
        for (let s = 0; s < column.length; s++) if (column[s] === number) here.push(s);
      }
    }
    return here ?? columns[x].keys();
  }

  #after(position, thrown) {
    const { game } = this;
    if (position < 0 || !game.isLayered || thrown === null) return position;
    const wanted = thrown.join(THROW_SIGN);
    const targets = game.targetsFor(position);
    for (let k = game.outcomeStart[position]; k < game.outcomeStart[position + 1]; k++) {
      const s = targets[k];
      if (s >= game.nPositions && game.thrown(s).join(THROW_SIGN) === wanted) return s;
    }
    return -1;
  }

  #firstThrow(throws) {
    const first = throws.find((o) => !o.isOver && this.game.isChoice(o.target)) ?? throws[0];
    return first ? this.game.thrown(first.target) : null;
  }

  #best(s) {
    const { game } = this;
    return game.isChoice(s) ? game.bestNames(s) : null;
  }

  // The best choice after each throw in a position: the throw, its chance, the choice, its value.
  async afterThrows(state) {
    const { game } = this;
    const position = game.position(state);
    if (position === state) return [];
    return game.outcomes(position, 0).map((o) => [this.speech.throwText(o), o.chance,
      game.bestNames(o.target), game.value(o.target)]);
  }
}

// The slices of a game with a server: as many positions as it sends at once.
export class AskedSlices {
  constructor(game) {
    this.game = game;
    this.axes = undefined; // the server chooses them
    this.first = this.placeOf(game.start);
  }

  placeOf(s) {
    const { state, throw: thrown, rolls_left: left } = this.game.known[s].place;
    return { at: Object.values(state), thrown, left };
  }

  #address({ at, thrown, left }) {
    const state = Object.fromEntries(this.game.fieldNames.map((name, f) => [name, at[f]]));
    return { state, throw: thrown, rolls_left: left };
  }

  async stateAt(place) {
    const { game } = this;
    const s = game.number(this.#address(place));
    try {
      await game.ready(s);
    } catch (error) {
      if (error.status === undefined) throw error; // no answer at all
      return -1;
    }
    if (!game.isThrow(s)) return s;
    await game.ready(s, 0);
    const after = game.outcomes(s, 0).map(({ target }) => target).filter((target) => target >= 0);
    for (const target of after) {
      await game.ready(target);
      if (game.isChoice(target)) return target;
    }
    return after[0] ?? s;
  }

  async slice(place, axes = this.axes) {
    const { game } = this;
    const names = game.fieldNames;
    const found = await game.mapAround(this.#address(place), (axes ?? []).filter((f) => f !== undefined).map((f) => names[f]));
    const [x, y] = found.axes.map((name) => names.indexOf(name));
    const cells = new Map();
    for (const { at, action } of found.cells) {
      const row = at[1] ?? 0;
      if (!cells.has(row)) cells.set(row, new Map());
      cells.get(row).set(at[0] ?? 0, action);
    }
    const state = game.number({ state: found.state, throw: found.throw, rolls_left: found.rolls_left });
    await game.ready(state);
    const most = found.throws[0]?.rolls_left ?? 0;
    return {
      place: { at: Object.values(found.state), thrown: found.throw, left: found.rolls_left },
      state, x: x ?? 0, y, numbers: names.map((name) => found.numbers[name]), cells, leftOut: found.left_out,
      throws: found.throws.map((one) => [one.throw, one.told || one.throw.join(THROW_SIGN)]),
      lefts: most ? Array.from({ length: most + 1 }, (_, k) => most - k) : [],
      text: (f, number) => found.texts[names[f]][number] ?? String(number),
      hasWords: (f) => Object.keys(found.texts[names[f]]).length > 0,
    };
  }

  async afterThrows(state) {
    return this.game.afterThrows(state);
  }
}
