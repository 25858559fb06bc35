// A solved game: its graph, the values of states and actions, and its words.
//
// The graph is unpacked in one pass, as far as the requested states. Values are
// kept of some states only; `value` looks ahead from the others until it comes to these, once for
// each state.

import { Column, Stream, doubles } from "./bytes.js";
import { SAY } from "./strings.js";

export const cellOf = ([kind, text, ...numbers]) => ({ kind, text, numbers });
const THROW = -1;
const AT_ONCE = 4096; // states unpacked together

// Expected results of all seats, from the mover on, and the meanings of fields. The opponent of a game for
// two has the negative.
export class Seats {
  get zeros() {
    return Array(this.head.players).fill(0);
  }

  #facing(worth) {
    return this.head.players === 2 ? [worth, -worth] : this.zeros.map((zero, k) => (k === 0 ? worth : zero));
  }

  // The best choices in words: "either roll or hold".
  bestNames(s) {
    const best = this.choices(s).filter(({ isBest }) => isBest).map(({ name }) => name);
    return best.length > 1 ? SAY.either(best) : best[0];
  }

  // How bad it is to lose so much: "doubtful", "bad", "very bad", or null for less.
  grade(cost) {
    const { stake, grades } = this.head;
    const found = grades.find(([, share]) => cost === Infinity || (cost >= share * stake && share * stake > 0));
    return found ? found[0] : null;
  }

  // What an outcome does: it wins, loses, ends the game, returns to the beginning (of a game without
  // an end), passes the turn or goes on.
  kindOf({ isOver, passes, payoff }) {
    if (!isOver) return passes ? "passes" : "on";
    return ["loses", this.head.average == null ? "ends" : "returns", "wins"][1 + this.decided(payoff)];
  }

  // An end by its value to a player: 1 where it is won, -1 where it is lost, 0 for a draw or a shared
  // win, whose value may be below 0 among three players.
  decided(value) {
    const isShared = this.head.players > 2 && !this.head.has_stakes && Math.abs(value) < 1;
    return isShared ? 0 : Math.sign(value);
  }

  // The points paid for an action.
  paid(s, i) {
    return this.#facing(this.rewardOf(s, i));
  }

  worths(s) {
    return this.#facing(this.value(s));
  }

  worthsOf(s, i) {
    return this.#facing(this.choices(s)[i].value);
  }

  worthsAfter(outcome) {
    return this.#facing(this.worth(outcome));
  }

  // The names of the choices in a state; a mere number has its unit: "2 dice".
  names(s) {
    const { unit } = this.head;
    return this.actions(s).map((name) => (unit.length && /^\d+$/.test(name) ? `${name} ${unit[name === "1" ? 0 : 1]}` : name));
  }

  // ---- fields

  // The name of a field for people; the parts of a tuple count from 1: "mine 2".
  label(f) {
    return this.fieldNames[f].replace(/\.(\d+)$/, (_, k) => ` ${Number(k) + 1}`).replaceAll("_", " ");
  }

  // The members of a field that is a set, each with its text and whether a number has it; null for
  // other fields.
  members(f, number) {
    return this.head.sets[f]?.map(([bit, text]) => ({ bit, text, isIn: Math.floor(number / 2 ** bit) % 2 === 1 })) ?? null;
  }

  rangeOf(f) {
    return this.head.ranges[f];
  }

  // The meaning of a number in a field.
  valueText(f, number) {
    const held = this.members(f, number)?.filter(({ isIn }) => isIn).map(({ text }) => text).join(" ");
    return held === undefined ? this.head.values[f][number] ?? String(number) : held || SAY.none;
  }
}

export class Game extends Seats {
  constructor({ head, parts }) {
    super();
    this.head = head;
    this.parts = parts;
    this.n = head.n_states;
    this.nPositions = head.n_positions;
    this.start = head.start;
    this.fieldNames = head.fields;
    this.isLayered = head.throws !== null;
    this.labels = head.kinds.map((kind) => kind[0]);
    this.nameOf = new Map(head.names);
    this.deedOf = new Map(head.deeds);
    this.toldOf = new Map(head.told);
    this.fields = head.fields.map((_, f) => new Column(parts[`field ${f}`], this.nPositions));
    this.nPlaces = this.nPositions + head.n_ends; // final positions stand after the others
    if (head.n_ends) this.ends = head.fields.map((_, f) => new Column(parts[`end ${f}`], head.n_ends));
    this.#readLotteries();
    this.menuOf = new Stream(parts.menu).sums(new Int32Array(this.n));
    this.#readOutcomes();
    this.values = new Float64Array(this.n);
    this.isKnown = new Uint8Array(this.n); // whether each value is known
    const anchors = new Stream(parts.anchors).sums(new Int32Array(head.anchors));
    const known = this.zeros.map((_, seat) => parts[`values ${seat}`]).filter(Boolean).map(doubles);
    anchors.forEach((s, i) => this.#know(s, known[0][i]));
    // in an equilibrium of three or more players: the values of each seat, by state
    if (head.players > 2) this.vectors = new Map([...anchors].map((s, i) => [s, known.map((column) => column[i])]));
    this.policies = new Map();
    this.spoken = new Map();
    this.drawn = [];
  }

  // Answers need no waiting; see `OpenGame`.
  async ready() {}
  async ahead() {}

  #know(s, value) {
    this.values[s] = value;
    this.isKnown[s] = 1;
  }

  // ---- unpacking

  // The fields of all positions.
  get columns() {
    return this.fields.map((column) => column.upTo(this.nPositions));
  }

  #readLotteries() {
    const { sizes, reward, weight, over, passes } = this.head.lotteries;
    this.lotteryStart = [0];
    for (const size of sizes) this.lotteryStart.push(this.lotteryStart.at(-1) + size);
    Object.assign(this, { reward, weight, over, passes, payoff: this.head.payoffs.map(([first]) => first) });
    this.total = sizes.map((size, k) => {
      let sum = 0;
      for (let j = 0; j < size; j++) sum += weight[this.lotteryStart[k] + j];
      return sum;
    });
    this.chance = weight.slice();
    sizes.forEach((size, k) => {
      for (let j = 0; j < size; j++) this.chance[this.lotteryStart[k] + j] /= this.total[k];
    });
  }

  // Where outcomes lead: `target`, -1 where the game is over. The outcomes of a state begin at
  // `outcomeStart`, those of an action of its menu `offsets` further.
  #readOutcomes() {
    const { head } = this;
    const sizes = head.kinds.map(([, lottery]) => head.lotteries.sizes[lottery]);
    const slotStart = [0];
    for (const size of sizes) slotStart.push(slotStart.at(-1) + size);
    this.slotStart = slotStart;
    this.offsets = head.menus.map((menu) => {
      const found = [0];
      for (const kind of menu) found.push(found.at(-1) + sizes[kind]);
      return found;
    });
    this.outcomeStart = this.#starts(this.offsets.map((found) => found.at(-1)));
    const slotsOf = head.menus.map((menu) => Int32Array.from(menu.flatMap((kind) =>
      Array.from({ length: sizes[kind] }, (_, j) => slotStart[kind] + j))));
    this.target = new Int32Array(this.outcomeStart[this.n]);
    this.#startSlots(slotsOf, this.#readSlots(slotStart.at(-1)));
  }

  // The first index of each state's entries, from the number of entries of a menu.
  #starts(sizes) {
    const { n, menuOf } = this;
    const found = new Int32Array(n + 1);
    for (let s = 0, end = 0; s < n; ) {
      end += sizes[menuOf[s++]];
      found[s] = end;
    }
    return found;
  }

  // Where the actions of each state begin.
  get actionStart() {
    this.actionStarts ??= this.#starts(this.head.menus.map((menu) => menu.length));
    return this.actionStarts;
  }

  // The slots: their ways (-1 for one that ends the game, -2 for a throw), and where each begins.
  #readSlots(n) {
    const way = new Int8Array(n).fill(-1);
    if (this.isLayered) {
      this.labels.forEach((label, kind) => {
        if (label === THROW) way.fill(-2, this.slotStart[kind], this.slotStart[kind + 1]);
      });
    }
    const at = new Int32Array(n);
    const list = new Stream(this.parts.slots);
    for (let slot = 0, place = 0; list.at < this.parts.slots.length; ) {
      slot += list.next();
      way[slot] = list.next();
      at[slot] = place;
      place += list.next();
    }
    return { way, at };
  }

  #startSlots(slotsOf, { way, at }) {
    const [last, before, source, zeros] = [0, 0, 0, 0].map(() => new Int32Array(way.length));
    const stream = new Stream(this.parts.targets);
    this.slots = { slotsOf, way, at, last, before, source, zeros, stream, next: this.nPositions };
    this.followed = 0; // states with known targets
  }

  // The targets, known for a state and all before it.
  targetsFor(s) {
    if (s >= this.followed) this.unpack(s + 1);
    return this.target;
  }

  // Find the targets of all states before one; whether there are others.
  unpack(end) {
    const { menuOf, target } = this;
    const { slotsOf, way, at, last, before, source, zeros, stream } = this.slots;
    const { bytes } = stream;
    end = Math.min(this.n, Math.max(end, this.followed + AT_ONCE));
    let { next } = this.slots; // the state after the next throw
    for (let s = this.followed, k = this.outcomeStart[s]; s < end; s++) {
      const slots = slotsOf[menuOf[s]];
      for (let i = 0; i < slots.length; i++) {
        const slot = slots[i];
        const how = way[slot];
        if (how < 0) {
          target[k++] = how === -1 ? -1 : next++;
          continue;
        }
        let found = last[slot];
        const byte = bytes[at[slot]];
        if (zeros[slot] > 0) zeros[slot]--;
        else if (byte > 0 && byte < 128) {
          at[slot]++;
          found += (byte >>> 1) ^ -(byte & 1);
        } else {
          stream.at = at[slot];
          stream.zeros = 0;
          found += stream.next();
          at[slot] = stream.at;
          zeros[slot] = stream.zeros;
        }
        if (how === 1) found += s - source[slot];
        else if (how === 2) found += last[slot] - before[slot];
        before[slot] = last[slot];
        last[slot] = found;
        source[slot] = s;
        target[k++] = found;
      }
    }
    this.slots.next = next;
    this.followed = Math.max(this.followed, end);
    return this.followed < this.n;
  }

  // ---- states

  // The position of a state, before its throw. The final position k is the state -2 - k.
  position(s) {
    if (s < 0) return this.nPositions - 2 - s;
    if (s < this.nPositions) return s;
    let low = 0; // in a game with throws each position has one action, the throw
    let high = this.nPositions - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.nPositions + this.outcomeStart[middle] <= s) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // The numbers of its fields, without the throw.
  row(s) {
    const position = this.position(s);
    return this.fields.map((_, f) => this.#number(f, position));
  }

  #number(f, position) {
    const end = position - this.nPositions;
    return end < 0 ? this.fields[f].upTo(position + 1)[position] : this.ends[f].upTo(end + 1)[end];
  }

  // The final position after an outcome, as its player sees it; null where the rules don't give it.
  final(outcome) {
    if (!this.parts.ends) return null;
    while (this.unpack(0)); // all targets
    const slots = this.#slots();
    const last = [];
    const stream = new Stream(this.parts.ends);
    for (let k = 0; k < outcome.index; k++) if (this.target[k] === -1) last[slots[k]] = (last[slots[k]] ?? 0) + stream.next();
    const number = (last[slots[outcome.index]] ?? 0) + stream.next();
    return number ? -1 - number : null;
  }

  // The throw; null before a throw, and where the throw is among the fields.
  thrown(s) {
    if (s < this.nPositions) return null;
    const position = this.position(s);
    const number = s - this.nPositions - this.outcomeStart[position];
    const lottery = this.head.kinds[this.menu(position)[0]][1];
    return this.head.throws[this.lotteryStart[lottery] + number];
  }

  // The dice of the throw as cells; empty before a throw, and where it is told in words.
  thrownDice(s) {
    const { dice_fields: fields, throw_dice: dice } = this.head;
    const throwing = this.isLayered ? this.thrown(s) ?? [] : fields.map((f) => this.row(s)[f]);
    return (dice[throwing.join(" ")] ?? []).map(cellOf);
  }

  // All numbers of a field, ascending.
  valuesOf(f) {
    return [...new Set(this.columns[f])].sort((a, b) => a - b);
  }

  // The position with these fields; -1 where no play comes to it.
  find(row) {
    const { columns } = this;
    const isBefore = (s) => {
      const f = columns.findIndex((column, k) => column[s] !== row[k]);
      return f >= 0 && columns[f][s] < row[f];
    };
    let low = 0;
    let high = this.nPositions;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(middle)) low = middle + 1;
      else high = middle;
    }
    const found = low < this.nPositions && columns.every((column, f) => column[low] === row[f]);
    return found ? low : -1;
  }

  // The boards of those rows of fields that are positions.
  async boards(rows) {
    return rows.map((at) => [at, this.find(at)]).filter(([, s]) => s >= 0).map(([at, s]) => ({ at, board: this.board(s) }));
  }

  // ---- actions and outcomes

  menu(s) {
    return this.head.menus[this.menuOf[s]];
  }

  isChoice(s) {
    return this.menu(s).length > 1;
  }

  // Whether chance throws before the mover chooses.
  isThrow(s) {
    return this.head.has_throws && this.labels[this.menu(s)[0]] === THROW;
  }

  // The texts of a state's actions, all different.
  actions(s) {
    const labels = this.menu(s).map((kind) => this.labels[kind]);
    const names = labels.map((label) => this.nameOf.get(label));
    if (names.length === 1 && names[0] === "0") return [SAY.onlyMove];
    const plain = names.map((name) => name.trim().replace(/\s+/g, " ").toLowerCase());
    return names.map((name, i) => plain.filter((other) => other === plain[i]).length > 1
      ? `${name} [${labels[i]}]` : name);
  }

  rewardOf(s, i) {
    return this.reward[this.head.kinds[this.menu(s)[i]][1]];
  }

  // The outcomes of the action at a place in a state's menu.
  outcomes(s, i) {
    const kind = this.menu(s)[i];
    const [, lottery] = this.head.kinds[kind];
    const slot = this.slotStart[kind];
    const first = this.lotteryStart[lottery];
    const begin = this.outcomeStart[s] + this.offsets[this.menuOf[s]][i];
    const targets = this.targetsFor(s);
    const found = [];
    for (let k = first; k < this.lotteryStart[lottery + 1]; k++) {
      found.push({
        number: k - first,
        index: begin + k - first,
        slot: slot + k - first,
        target: targets[begin + k - first],
        weight: this.weight[k],
        chance: this.chance[k],
        total: this.total[lottery],
        isOver: this.over[k] === 1,
        passes: this.passes[k],
        payoff: this.payoff[k],
        payoffs: this.head.payoffs[k],
      });
    }
    return found;
  }

  // ---- values

  value(s) {
    if (this.vectors) return this.worths(s)[0];
    const waiting = [s];
    while (waiting.length) {
      const here = waiting.at(-1);
      if (this.isKnown[here]) {
        waiting.pop();
        continue;
      }
      const known = waiting.length;
      const targets = this.targetsFor(here);
      for (let k = this.outcomeStart[here]; k < this.outcomeStart[here + 1]; k++) {
        const next = targets[k];
        if (next >= 0 && !this.isKnown[next]) waiting.push(next);
      }
      if (waiting.length > known) continue;
      waiting.pop();
      const { sign } = this.head;
      let best = -Infinity;
      for (let i = 0; i < this.menu(here).length; i++) {
        best = Math.max(best, sign * this.#ahead(here, i));
      }
      this.#know(here, sign * best);
    }
    return this.values[s];
  }

  // Find the values of all next states.
  #lookAhead(s) {
    const targets = this.targetsFor(s);
    for (let k = this.outcomeStart[s]; k < this.outcomeStart[s + 1]; k++) {
      const next = targets[k];
      if (next >= 0 && !this.isKnown[next]) this.value(next);
    }
  }

  #ahead(s, i) {
    const kind = this.menu(s)[i];
    const [, lottery] = this.head.kinds[kind];
    const first = this.lotteryStart[lottery];
    const begin = this.outcomeStart[s] + this.offsets[this.menuOf[s]][i] - first;
    const targets = this.targetsFor(s);
    let worth = this.reward[lottery];
    for (let k = first; k < this.lotteryStart[lottery + 1]; k++) {
      const value = this.over[k] ? this.payoff[k] : this.values[targets[begin + k]];
      worth += this.chance[k] * (this.passes[k] && !this.over[k] ? -value : value);
    }
    return worth;
  }

  // ---- values of each seat in an equilibrium of three or more players: those of the outcomes of the
  // equilibrium's action, turned to the seat of the mover

  worths(s) {
    if (!this.vectors) return super.worths(s);
    if (!this.vectors.has(s)) this.vectors.set(s, this.worthsOf(s, this.best(s)));
    return this.vectors.get(s);
  }

  worthsOf(s, i) {
    if (!this.vectors) return super.worthsOf(s, i);
    return this.outcomes(s, i).reduce((sum, outcome) => {
      const after = this.worthsAfter(outcome);
      return sum.map((worth, k) => worth + outcome.chance * after[k]);
    }, this.paid(s, i));
  }

  worthsAfter(outcome) {
    if (!this.vectors) return super.worthsAfter(outcome);
    if (outcome.isOver) return outcome.payoffs;
    const there = this.worths(outcome.target);
    return there.map((_, k) => there[(k - outcome.passes + there.length) % there.length]);
  }

  // The value of an outcome to the mover.
  worth(outcome) {
    if (this.vectors) return this.worthsAfter(outcome)[0];
    if (outcome.isOver) return outcome.payoff;
    const value = this.value(outcome.target);
    return outcome.passes ? -value : value;
  }

  // The mover's actions: names, value, cost against the best, and whether none is better.
  choices(s) {
    const names = this.names(s);
    if (!this.vectors) this.#lookAhead(s);
    const worth = names.map((_, i) => (this.vectors ? this.worthsOf(s, i)[0] : this.#ahead(s, i)));
    const { sign, best_below: below } = this.head;
    const most = Math.max(...worth.map((value) => sign * value));
    return names.map((name, place) => {
      const cost = most - sign * worth[place];
      return { place, name, value: worth[place], cost, isBest: cost <= below };
    });
  }

  // The place of the action of optimal play: the first of the best.
  best(s) {
    if (this.mixes("optimal")) {
      const weights = this.weights("optimal", s);
      return weights.indexOf(Math.max(...weights));
    }
    if (this.parts["policy optimal"]) return this.policy("optimal", s);
    return this.choices(s).findIndex(({ isBest }) => isBest);
  }

  // The place of the action of a named policy, where it doesn't mix.
  policy(name, s) {
    if (!this.policies.has(name)) {
      const stream = new Stream(this.parts[`policy ${name}`]);
      const taken = new Int32Array(this.n);
      let sum = 0;
      for (let t = 0; t < this.n; t++) if (this.isChoice(t)) taken[t] = sum += stream.next();
      this.policies.set(name, taken);
    }
    return this.policies.get(name)[s];
  }

  mixes(name) {
    return name === "random" || this.head.policies.some((one) => one.name === name && one.mixes);
  }

  // A mixing policy's weights of a state's actions.
  weights(name, s) {
    if (name === "random" || !this.isChoice(s)) return this.menu(s).map(() => 1);
    if (!this.policies.has(name)) {
      const stream = new Stream(this.parts[`policy ${name}`]);
      const found = new Int32Array(this.actionStart[this.n]);
      for (let t = 0; t < this.n; t++) {
        if (!this.isChoice(t)) continue;
        for (let a = this.actionStart[t]; a < this.actionStart[t + 1]; a++) found[a] = stream.next();
      }
      this.policies.set(name, found);
    }
    return [...this.policies.get(name).subarray(this.actionStart[s], this.actionStart[s + 1])];
  }

  // ---- words of the game; empty where it has none

  described(s) {
    return this.#text("described", this.position(s), () => new Int32Array(this.nPlaces));
  }

  shown(s) {
    return this.#text("shown", this.position(s), () => new Int32Array(this.nPlaces));
  }

  // The board: rows of cells, each a kind, a text and numbers; null where the game has none.
  board(s) {
    const position = this.position(s);
    const says = ([how, number]) => {
      if (how === 0) return number;
      if (how === 1) return this.#number(number, position);
      this.drawn[number] ??= new Column(this.parts[`board ${number}`], this.nPlaces);
      return this.drawn[number].upTo(position + 1)[position];
    };
    return this.head.board?.map((row) => row.map(([kind, text, ...numbers]) =>
      ({ kind, text: this.head.texts[says(text)], numbers: numbers.map(says) }))) ?? null;
  }

  deed(s, i) {
    return this.#text("deeds", this.actionStart[s] + i, () => this.#kinds())
      || this.deedOf.get(this.labels[this.menu(s)[i]]) || "";
  }

  told(outcome) {
    return this.#text("told", outcome.index, () => this.#slots()) || this.toldOf.get(outcome.slot) || "";
  }

  // The dice of an action, and the outcome of each throw of them; null where unknown.
  dice(s, i) {
    return this.head.dice[this.menu(s)[i]];
  }

  #text(part, index, groups) {
    if (!this.parts[part]) return "";
    if (!this.spoken.has(part)) {
      const group = groups();
      const last = [];
      const stream = new Stream(this.parts[part]);
      this.spoken.set(part, group.map((g) => (last[g] = (last[g] ?? 0) + stream.next())));
    }
    return this.head.texts[this.spoken.get(part)[index]];
  }

  #kinds() {
    const numbers = new Map([...new Set(this.labels)].sort((a, b) => a - b).map((l, i) => [l, i]));
    const found = new Int32Array(this.actionStart[this.n]);
    for (let s = 0, a = 0; s < this.n; s++) {
      for (const kind of this.menu(s)) found[a++] = numbers.get(this.labels[kind]);
    }
    return found;
  }

  #slots() {
    const found = new Int32Array(this.target.length);
    for (let s = 0, k = 0; s < this.n; s++) {
      for (const kind of this.menu(s)) {
        for (let slot = this.slotStart[kind]; slot < this.slotStart[kind + 1]; slot++) found[k++] = slot;
      }
    }
    return found;
  }
}
