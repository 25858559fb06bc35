// A game too large for a page: a server sends each reached position, and the outcomes of actions
// there. It has the methods of a `Game`, once it is `ready`.

import { Seats, cellOf } from "./game.js";
import { SAY } from "./strings.js";

const NOT_SOLVED = 409; // a server's answer for an unsolved game
const WAIT = 300; // milliseconds between questions about the progress
const MOST_AHEAD = 200; // outcomes asked for before a choice
const MOST_BOARDS = 2000; // positions in a question

// No answer, or a refusal, from the server; the message is for people.
export class Lost extends Error {}

// The server's answer.
export async function asked(path, options) {
  const answer = await fetch(path, options).catch(() => { throw new Lost(SAY.serverGone); });
  const said = await answer.json();
  if (!answer.ok) throw Object.assign(new Lost(said.error), { status: answer.status });
  return said;
}

// The game of this page in an address, with a hash of its rules: the server refuses others.
export function queryOf({ api }) {
  const words = new URLSearchParams(location.search);
  if (api?.rules) words.set("rules", api.rules);
  return words;
}

// Have the server solve the game of this page, and wait until it has: it may have been started anew.
async function solved() {
  const words = new URLSearchParams(location.search);
  const parameters = Object.fromEntries(words.getAll("parameter").map((text) => {
    const at = text.indexOf("=");
    return [text.slice(0, at), text.slice(at + 1)];
  }));
  let found = await asked("api/solve", { method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify({ game: words.get("game"), parameters }) });
  while (found.state === "solving") {
    await new Promise((wake) => setTimeout(wake, WAIT));
    found = await asked(`api/solve${location.search}`);
  }
  if (found.state === "failed") throw new Lost(found.error);
}

async function answered(path, options) {
  try {
    return await asked(path, options);
  } catch (error) {
    if (error.status !== NOT_SOLVED) throw error;
    await solved();
    return asked(path, options);
  }
}

const asBoard = (cells) => (cells.length ? cells.map((row) => row.map(cellOf)) : null);

export class OpenGame extends Seats {
  constructor(head) {
    super();
    this.head = head;
    this.isLayered = false; // the position names its throw
    this.fieldNames = head.fields;
    this.numberOf = new Map();
    this.known = []; // by number: where a state is, what was said of it, and what can come there
    this.start = this.number(head.start);
  }

  // The final position after an outcome, as its player sees it; null where the rules don't give it.
  final({ final }) {
    if (!final) return null;
    const s = this.number({ ...this.known[this.start].place, state: final.state, throw: null, rolls_left: null, isOver: true });
    this.known[s].said ??= { ...final, thrown: "", dice: [], choices: [] };
    return s;
  }

  // The number of a state, by its fields, its throw and the rolls left.
  number(place) {
    const key = JSON.stringify(place);
    if (!this.numberOf.has(key)) {
      this.numberOf.set(key, this.known.length);
      this.known.push({ place, said: null, outcomes: [] });
    }
    return this.numberOf.get(key);
  }

  // Ask for a state, and for the outcomes of the action at a place in its menu.
  async ready(s, i = null) {
    const here = this.known[s];
    here.said ??= await answered(this.#path(here.place));
    if (i === null || here.outcomes[i]) return;
    const { outcomes, dice } = await answered(this.#path(here.place, here.said.choices[i].action));
    here.outcomes[i] = { dice, list: outcomes.map((one) => this.#outcome(one)) };
  }

  // Ask for the outcomes of all actions of a state, and for the positions after certain ones.
  async ahead(s) {
    await this.ready(s);
    const { choices } = this.#said(s);
    if (choices.reduce((sum, { outcomes }) => sum + outcomes, 0) > MOST_AHEAD) return;
    await Promise.all(choices.map(async (_, i) => {
      await this.ready(s, i);
      const [one, ...others] = this.outcomes(s, i);
      if (!others.length && !one.isOver) await this.ready(one.target);
    }));
  }

  // The losses of policies against optimal play, and whether they rest on equally good choices.
  async opponents() {
    const { losses, rest_on_ties: restOnTies } = await answered(`api/opponents?${queryOf(this.head)}`);
    return { losses: Object.entries(losses).map(([name, loss]) => ({ name, loss })), losses_rest_on_ties: restOnTies };
  }

  // The boards of those rows of fields that are positions.
  async boards(rows) {
    const body = JSON.stringify({ rows: rows.slice(0, MOST_BOARDS) });
    const headers = { "content-type": "application/json" };
    const { boards } = await answered(`api/boards?${queryOf(this.head)}`, { method: "POST", headers, body });
    return boards.map(({ at, cells }) => ({ at, board: asBoard(cells) }));
  }

  // The best actions around a place: along these fields, or the server's choice of fields.
  async mapAround(place, axes) {
    const words = this.#words(place);
    axes.forEach((name, k) => words.set(["x", "y"][k], name));
    return answered(`api/map?${words}`);
  }

  // The best action after each throw in the position of a state.
  async afterThrows(s) {
    const { state } = this.known[s].place;
    const { throws } = await answered(`api/advise?${this.#words({ state, throw: null, rolls_left: null })}`);
    return throws.map((one) => [one.throw.join(" "), one.probability, one.action, one.value]);
  }

  #path(place, action = null) {
    const words = this.#words(place);
    if (action !== null) words.set("action", action);
    return `api/position?${words}`;
  }

  #words({ state, throw: thrown, rolls_left: left }) {
    const words = queryOf(this.head);
    words.set("state", Object.entries(state).map(([name, number]) => `${name}=${number}`).join(","));
    if (thrown !== null) words.set("throw", thrown.join(","));
    if (left !== null) words.set("rolls_left", left);
    return words;
  }

  #outcome({ number, ways, of, told, over, passes, payoff, value, next, final }) {
    return { number: number - 1, target: next === null ? -1 : this.number(next), weight: ways, total: of,
      chance: ways / of, told, isOver: over, passes, payoff, worth: value, final };
  }

  #said(s) {
    return this.known[s].said;
  }

  // ---- a state

  row(s) {
    return Object.values(this.known[s].place.state);
  }

  // The position of a state, before its throw.
  position(s) {
    return this.number({ ...this.known[s].place, throw: null, rolls_left: null });
  }

  valuesOf(f) {
    const [least, most] = this.rangeOf(f);
    return Array.from({ length: most - least + 1 }, (_, k) => least + k);
  }

  thrown() {
    return null;
  }

  thrownDice(s) {
    return (this.#said(s)?.dice ?? []).map(cellOf);
  }

  // In words; the throw apart, but for a pool of dice.
  described(s) {
    const { position, thrown } = this.#said(s);
    return this.#isApart(s) ? position.slice(0, -`; ${thrown}`.length) : position;
  }

  thrownText(s) {
    return this.#isApart(s) ? this.#said(s).thrown.replace("thrown: ", "") : "";
  }

  #isApart(s) {
    return this.#said(s).thrown !== "" && this.known[s].place.rolls_left === null;
  }

  shown(s) {
    return this.#said(s).board;
  }

  board(s) {
    return asBoard(this.#said(s)?.cells ?? []); // none before `ready`
  }

  value(s) {
    return this.#said(s).value;
  }

  // ---- actions and outcomes

  choices(s) {
    const scale = this.head.is_score ? 1 : 2; // the server gives costs as win probabilities
    const names = this.names(s);
    return this.#said(s).choices.map(({ value, cost, best }, place) =>
      ({ place, name: names[place], value, cost: scale * cost, isBest: best }));
  }

  isChoice(s) {
    return this.#said(s).choices.length > 1;
  }

  isThrow(s) {
    return this.#said(s).choices[0].is_throw;
  }

  actions(s) {
    return this.#said(s).choices.map(({ action }) => action);
  }

  best(s) {
    return this.#said(s).choices.findIndex(({ best }) => best);
  }

  mixes(name) {
    return name !== "optimal";
  }

  // Policies that fail in a position play at random there.
  weights(name, s) {
    return this.#said(s).choices.map(({ policies }) => policies[name] ?? 1);
  }

  rewardOf(s, i) {
    return this.#said(s).choices[i].reward;
  }

  deed(s, i) {
    return this.#said(s).choices[i].deed;
  }

  dice(s, i) {
    return this.known[s].outcomes[i].dice;
  }

  outcomes(s, i) {
    return this.known[s].outcomes[i]?.list ?? []; // none before `ready`
  }

  worth(outcome) {
    return outcome.worth;
  }

  told(outcome) {
    return outcome.told;
  }
}
