// A drill: positions in which a wrong choice costs much, one after the other. The answer comes after
// the guess, and a position with a wrong answer comes again.

import { drawn, freshSeed, randomOf } from "./random.js";

const GAMES = 30; // played to find positions
const LONGEST = 400; // moves of such a game
const PATIENCE = 1500; // milliseconds of the search, unless it finds no position
const MISTAKES = 0.15; // share of random choices in them, to meet more positions
const MOST_POSITIONS = 40; // of these games
const LATER = 4; // questions before one comes again
const OBVIOUS = 0.25; // weight of a cost that none of the game's policies pays

export class Drill {
  // `states` are asked first; without others the drill ends after them.
  constructor(game, states, isEndless) {
    Object.assign(this, { game, isEndless });
    this.waiting = [...states];
    this.seen = new Set(states);
    this.right = this.wrong = 0;
  }

  // The next state; null at the end.
  async next() {
    if (!this.waiting.length && this.isEndless) this.waiting = await expensive(this.game, freshSeed(), this.seen);
    const state = this.waiting.shift() ?? null;
    if (state !== null) this.seen.add(state);
    return state;
  }

  answer(state, isRight) {
    if (isRight) this.right++;
    else {
      this.wrong++;
      this.waiting.splice(LATER, 0, state);
    }
  }
}

// States that come up often and in which a mistake costs much, the most expensive ones first.
async function expensive(game, seed, seen) {
  const found = new Map();
  const end = performance.now() + PATIENCE;
  const isLate = () => found.size > 0 && performance.now() > end;
  for (let number = 0; number < GAMES && !isLate(); number++) {
    await new Promise((wake) => setTimeout(wake)); // the page stays alive
    const random = randomOf(seed, number);
    let state = game.start;
    for (let moves = 0; moves < LONGEST && state >= 0 && !isLate(); moves++) {
      await game.ready(state);
      if (game.isChoice(state) && !seen.has(state)) found.set(state, (found.get(state) ?? 0) + (await stake(game, state)));
      const n = game.names(state).length;
      const place = random() < MISTAKES ? Math.floor(n * random()) : game.best(state);
      await game.ready(state, place);
      const outcomes = game.outcomes(state, place);
      state = outcomes[drawn(outcomes.map(({ weight }) => weight), random)].target;
    }
  }
  const states = [...found.keys()].filter((state) => found.get(state) > 0);
  if (!states.length && seen.size) seen.clear(); // all were asked
  return states.sort((a, b) => found.get(b) - found.get(a)).slice(0, MOST_POSITIONS);
}

// The cost of a tempting mistake: that of the game's policies, or else of the second best choice. A
// choice that wins at once tempts into none.
async function stake(game, state) {
  const choices = game.choices(state);
  for (const { place, isBest } of choices) if (isBest) await game.ready(state, place);
  const wins = ({ place }) => game.outcomes(state, place).every(({ isOver, payoff }) => isOver && game.decided(payoff) > 0);
  if (choices.some((one) => one.isBest && wins(one))) return 0;
  const costs = choices.filter(({ isBest }) => !isBest).map(({ cost }) => cost);
  const paid = game.head.policies.filter(({ name, mixes }) => !mixes && name !== "optimal")
    .map(({ name }) => choices[game.policy(name, state)]).filter(({ isBest }) => !isBest).map(({ cost }) => cost);
  return paid.length ? Math.max(...paid) : costs.length ? OBVIOUS * Math.min(...costs) : 0;
}
