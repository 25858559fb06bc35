// Prints what the page knows of a game, for tests/test_page.py to hold against Python.
import { readFileSync } from "node:fs";
import { opened } from "./bytes.js";
import { Figures } from "./figures.js";
import { Game } from "./game.js";
import { inflated } from "./inflate.js";
import { recordOf } from "./record.js";
import { meanLuck, wonDrewLost } from "./series.js";
import { Session } from "./session.js";
import { Speech, conjugated } from "./speech.js";

const [path, what, ...rest] = process.argv.slice(2);
const game = new Game(opened(await inflated(readFileSync(path, "utf8"))));
const figures = new Figures(game.head);
const speech = new Speech(game);

function allStates() {
  return Array.from({ length: game.n }, (_, s) => ({
    row: game.row(s),
    thrown: game.thrown(s),
    position: speech.position(game.position(s)),
    shown: game.shown(s),
    cells: (game.board(s) ?? []).map((row) => row.map(({ kind, text, numbers }) => [kind, text, numbers])),
    value: game.value(s),
    worths: game.worths(s),
    level: figures.level(game.value(s)),
    best: game.best(s),
    policies: Object.fromEntries(game.head.policies.map(({ name, mixes }) => [name, mixes ? game.weights(name, s) : game.policy(name, s)])),
    found: game.find(game.row(s)) === game.position(s),
    choices: game.choices(s).map(({ name, value, cost, isBest, place }) => ({
      name, value, cost, isBest, text: figures.cost(cost), level: figures.level(value),
      dice: game.dice(s, place), says: speech.consequence(s, place),
      outcomes: game.outcomes(s, place).map((outcome) => ({
        weight: outcome.weight, chance: outcome.chance, isOver: outcome.isOver,
        passes: outcome.passes, payoff: outcome.payoff, worth: game.worth(outcome),
        kind: game.kindOf(outcome), row: outcome.isOver ? null : game.row(outcome.target), text: speech.came(s, place, outcome),
      })),
    })),
  }));
}

// A game from a seed, played by policies; in the middle somebody takes a choice back.
function oneGame(seed, ...players) {
  const session = new Session(game, players, { seed: Number(seed) });
  while (!session.isOver && session.accounts.length < 10_000) {
    session.choose(session.machineChoice());
    session.roll();
  }
  return {
    moves: session.accounts.map(({ state, place, outcome, seat, faces, before, chosen, after, cost, isMistake, points }) =>
      ({ row: game.row(state), thrown: game.thrown(state), place, number: outcome.number, seat, faces, before: before[0], chosen: chosen[0], after: after[0], cost, isMistake, points })),
    ledgers: game.zeros.map((_, seat) => session.ledger(seat)),
    isOver: session.isOver,
  };
}

// The record of such a game, and what it came to.
function recorded(seed, ...players) {
  const session = new Session(game, players, { seed: Number(seed) });
  while (!session.isOver) {
    session.choose(session.machineChoice());
    session.roll();
  }
  const { result, luck } = session.ledger(0);
  return { text: JSON.stringify(recordOf(game, session, players)), moves: session.accounts.map(({ state }) => state),
    result, luck: luck.reduce((sum, one) => sum + one, 0) };
}

// Every choice is taken back once, and made again: the dice must fall as before.
function takenBack(seed) {
  const game_ = (isBack) => {
    const session = new Session(game, [null, null], { seed: Number(seed) });
    const done = new Set(); // how many moves there were when one was taken back
    for (let i = 0; !session.isOver && i < 10_000; i++) {
      session.choose(game.best(session.state));
      session.roll();
      if (isBack && session.canUndo && !done.has(session.accounts.length)) {
        done.add(session.accounts.length);
        session.undo();
        session.choose(game.best(session.state));
        session.roll();
      }
    }
    return session.accounts.map(({ state, outcome }) => [state, outcome.number]);
  };
  return [game_(false), game_(true)];
}

const found = {
  states: allStates,
  game: oneGame,
  record: recorded,
  back: takenBack,
  results: () => wonDrewLost(rest.map(Number)),
  head: () => game.head,
  luck: (...played) => {
    const { ledgers } = oneGame(...played);
    return ledgers.map((ledger) => figures.gain(meanLuck([ledger])));
  },
  conjugated: () => rest.map((deed) => conjugated(deed, false)),
}[what](...rest);
console.log(JSON.stringify(found));
