// A game in progress: the mover, legal actions, outcomes and values.
//
// Let v be the value of a position, q that of the chosen action, and v' the value after the dice.
// The choice changes the value by q - v (skill), and the dice by v' - q (luck). Over a game they add
// up to the result minus the value of the start.

import { drawn, randomOf } from "./random.js";

export class Session {
  // `players`: for each seat null for a person, "optimal", "random" or the name of a policy.
  constructor(game, players, { seed, from = game.start } = {}) {
    this.game = game;
    this.players = players;
    this.seed = seed;
    this.from = from;
    this.accounts = [];
    this.#goTo(from, 0);
  }

  #goTo(state, seat) {
    this.state = state;
    this.seat = seat;
    this.pending = null; // the place of the chosen action, until its dice fall
    this.isOver = false;
    this.points = this.game.zeros.map((_, k) => this.accounts.reduce((sum, entry) => sum + entry.gain[k], 0));
  }

  // Numbers of the mover and the next players, as a list by seat.
  #bySeat(numbers) {
    return numbers.map((_, k) => numbers[(k - this.seat + numbers.length) % numbers.length]);
  }

  // The expected result of each seat.
  get levels() {
    const worths = this.isOver ? this.game.zeros : this.#bySeat(this.game.worths(this.state));
    return this.points.map((points, k) => points + worths[k]);
  }

  get isPerson() {
    return this.players[this.seat] === null;
  }

  get choices() {
    return this.game.choices(this.state);
  }

  choose(place) {
    this.pending = place;
  }

  machineChoice() {
    const player = this.players[this.seat];
    if (player === "optimal" && !this.game.mixes(player)) return this.game.best(this.state);
    if (!this.game.mixes(player)) return this.game.policy(player, this.state);
    return drawn(this.game.weights(player, this.state), randomOf(this.seed, this.accounts.length, 1));
  }

  // The outcomes of the chosen action.
  get falls() {
    return this.game.outcomes(this.state, this.pending);
  }

  roll() {
    const random = randomOf(this.seed, this.accounts.length, 0);
    const dice = this.game.dice(this.state, this.pending);
    if (!dice) return this.fall(drawn(this.falls.map((fall) => fall.weight), random));
    return this.throw(dice.sides.map((sides) => 1 + Math.floor(sides * random())));
  }

  // Take the dice as somebody threw them.
  throw(faces) {
    const { sides, brings } = this.game.dice(this.state, this.pending);
    const number = faces.reduce((place, face, i) => place * sides[i] + face - 1, 0);
    return this.fall(brings[number], faces);
  }

  // Take an outcome of the chosen action by its number.
  fall(number, faces = []) {
    const { game, state, seat, pending: place, points } = this;
    const choices = game.choices(state);
    const outcome = game.outcomes(state, place)[number];
    const total = (worths) => this.#bySeat(worths).map((worth, k) => points[k] + worth);
    const paid = game.paid(state, place);
    const entry = {
      number: this.accounts.length,
      seat, state, place, outcome, faces,
      gain: this.#bySeat(paid), // by seat, as `before`, `chosen` and `after`: expected results
      before: total(game.worths(state)),
      chosen: total(game.worthsOf(state, place)),
      after: total(game.worthsAfter(outcome).map((worth, k) => worth + paid[k])),
      cost: choices.length > 1 ? choices[place].cost : 0,
      isChoice: choices.length > 1,
      isMistake: !choices[place].isBest,
      points: points[seat],
    };
    this.accounts.push(entry);
    if (outcome.isOver) {
      this.#goTo(state, seat);
      this.isOver = true;
    } else {
      this.#goTo(outcome.target, (seat + outcome.passes) % points.length);
    }
    return entry;
  }

  get canUndo() {
    return this.#lastChoice() >= 0 || (this.pending !== null && this.isPerson);
  }

  #lastChoice() {
    return this.accounts.findLastIndex((e) => e.isChoice && this.players[e.seat] === null);
  }

  // Take back the last choice of a person, and everything after it.
  undo() {
    if (this.pending !== null && this.isPerson && this.game.isChoice(this.state)) {
      this.pending = null;
      return;
    }
    const number = this.#lastChoice();
    if (number < 0) return;
    const { state, seat } = this.accounts[number];
    this.accounts.length = number;
    this.#goTo(state, seat);
  }

  // Luck and skill so far, in the eyes of a seat: of this seat, and of the next ones.
  ledger(seat) {
    const start = this.game.worths(this.from)[seat];
    const seats = this.points.map((_, k) => (seat + k) % this.points.length);
    const sum = (of, part) => this.accounts.filter((e) => e.seat === of).reduce((total, e) => total + part(e), 0);
    const luck = seats.map((of) => sum(of, (e) => change(e.chosen[seat], e.after[seat])));
    const skill = seats.map((of) => sum(of, (e) => change(e.before[seat], e.chosen[seat])));
    const result = this.accounts.length ? this.accounts.at(-1).after[seat] : start;
    return { start, result, luck, skill };
  }
}

// The difference of two values: 0 between infinite ones, where play may never end.
export function change(before, after) {
  return before === after ? 0 : after - before;
}
