// A game with hidden dice or simultaneous choices, against an opponent. A player remembers what it saw
// and did since the round began: its memory is the last sequence of its choices.

import { drawBoard, slide, snapshot } from "./board.js";
import { barred, button, el, fill, labelled, opponentCards, scoreboard, scrollable, select, show, table } from "./dom.js";
import { digitsOf, fixed, plain, signed } from "./figures.js";
import { drawn, freshSeed, randomOf } from "./random.js";
import { rulesView } from "./rules.js";
import { SAY } from "./strings.js";
import { tabs } from "./tabs.js";

const MOST_ROWS = 200; // of a table of the strategies, at a time
const NOTICED = 1e-6; // cost of a choice that counts, as a part of the stake
const MOST_NEWS = 3; // lines on the table
const DEAL = 0; // kind of a position at which chance moves
const MOST_ALONE = 1000; // moves in a row without a choice of the person, where play may never end

// The course of one game.
class HiddenGame {
  constructor(data, { seat, policy, seed }) {
    Object.assign(this, { data, seat, policy, seed });
    this.place = 0;
    this.mover = 0;
    this.payoff = 0; // of the first player
    this.isOver = false;
    this.moves = []; // { text, told, cost }: `told` is the text before the end of the round
    this.n = 0; // of random numbers
    this.#enter();
    this.#goOn();
  }

  // A round begins: nothing earlier matters. `first` is its mover.
  #enter() {
    const round = this.data.rounds.indexOf(this.place);
    if (round < 0) return;
    Object.assign(this, { round, first: this.mover, memory: [0, 0] });
    for (const move of this.moves) move.told = move.text;
  }

  get position() {
    return this.data.positions[this.place];
  }

  get random() {
    return randomOf(this.seed, this.n++);
  }

  // The players who choose now, each with its side: 1 for the other of two who choose together.
  get choosers() {
    return this.position.menus[1]?.length ? [[this.mover, 0], [1 - this.mover, 1]] : [[this.mover, 0]];
  }

  get side() {
    return this.choosers.find(([player]) => player === this.seat)?.[1];
  }

  // The first sequence of a situation, and the share and the worth of each choice.
  situation(player, side) {
    const { data, memory, place } = this;
    const sets = data.sets[this.round];
    return data.hidden ? sets[player ^ this.first][`${memory[player]},${this.position.sight}`] : sets[side][place];
  }

  // The choices of the person: name, share in perfect play, worth and cost.
  choices() {
    const [, shares, worths] = this.situation(this.seat, this.side);
    const best = Math.max(...worths.filter((worth) => worth !== null));
    return this.position.menus[this.side].map((name, k) => ({ name, share: shares[k], worth: worths[k],
      cost: worths[k] === null ? 0 : best - worths[k] }));
  }

  choose(index) {
    const { name, cost } = this.choices()[index];
    const text = SAY.yourChoice(name);
    this.moves.push({ text, told: text, cost });
    this.#act(index);
    this.#goOn();
  }

  get lost() {
    return this.moves.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
  }

  // Chance and the opponent move until the person has a choice. Endless play is a draw.
  #goOn() {
    for (let n = 0; !this.isOver; n++) {
      if (this.data.endless && n === MOST_ALONE) {
        this.moves.push({ text: SAY.neverEnds, told: SAY.neverEnds });
        this.isOver = true;
      } else if (this.position.kind === DEAL) this.#step(0);
      else if (this.side === undefined) this.#act(null);
      else return;
    }
  }

  #act(mine) {
    const { choosers, position, data, seat } = this;
    const indices = choosers.map(([player, side]) => (player === seat ? mine : this.#picked(player, side)));
    choosers.forEach(([player, side], k) => {
      if (player !== seat) {
        const text = SAY.theirChoice(position.menus[side][indices[k]]);
        this.moves.push({ text, told: data.hidden ? SAY.theirTurn : text });
      }
      if (data.hidden) this.memory[player] = this.situation(player, side)[0] + indices[k];
    });
    this.#step(indices.length > 1 ? indices[0] * position.menus[1].length + indices[1] : indices[0]);
  }

  #picked(player, side) {
    const { policy, random } = this;
    if (policy?.picks.length) return policy.picks[this.place][side];
    const [, shares] = this.situation(player, side);
    return drawn(policy ? shares.map(() => 1) : shares, random);
  }

  #step(choice) {
    const [reward, outcomes] = this.position.choices[choice];
    const sign = 1 - 2 * this.mover;
    const [, payoff, target, turn] = outcomes[drawn(outcomes.map(([weight]) => weight), this.random)];
    this.payoff += sign * (reward + payoff);
    this.isOver = target < 0;
    if (this.isOver) return;
    [this.place, this.mover] = [target, this.mover ^ turn];
    this.#enter();
  }
}

class HiddenView {
  constructor(data, open) {
    Object.assign(this, { data, open, game: null, isAsked: false });
    this.heading = el("h2", { tabindex: -1 });
    this.score = el("div", { class: "score" });
    this.place = scrollable(el("div", { class: "place" }));
    this.news = el("div", { class: "news", tabindex: 0, role: "status", "aria-live": "polite" });
    this.ask = el("div", { class: "ask" });
    this.tools = el("div", { class: "tools" });
    this.coachPanel = el("div", { role: "status", "aria-live": "polite" });
    this.movesPanel = el("div");
    this.digits = data.is_chance ? 2 : digitsOf(data.stake, 4);
    this.noticed = NOTICED * (data.stake || 1);
    this.setup = this.#setUp();
    this.element = el("section", { class: "stage", id: "table", "aria-label": SAY.table },
      this.score, this.place, el("div", { class: "tray" }, this.news),
      el("div", { class: "bottom" }, this.heading, this.ask, this.tools));
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  // ---- a new game

  #setUp() {
    const { policies, failed } = this.data;
    this.seat = select([["0", SAY.seat(0)], ["1", SAY.seat(1)]], "0");
    this.coach = select(Object.entries(SAY.hiddenCoaches), "ask");
    this.seed = el("input", { type: "number", min: 0, max: 2 ** 53 - 1, step: 1, inputmode: "numeric", required: true });
    this.seed.value = freshSeed();
    const cards = [{ value: 0, name: SAY.perfect, strength: SAY.gainsNothing }, ...policies.map((one, k) => ({ ...one,
      value: k + 1, strength: SAY.losesHidden(this.#level(one.lost), this.data.is_chance) }))];
    return el("form", { class: "setup", onsubmit: (event) => { event.preventDefault(); this.begin(); } },
      opponentCards(SAY.against(2, this.data.is_chance), cards),
      policies.length > 0 && el("p", {}, SAY.otherOptimal),
      failed.length > 0 && el("p", { class: "warning" }, SAY.failed(failed)),
      el("div", { class: "starts" }, el("button", { class: "main start" }, SAY.begin)),
      el("details", {}, el("summary", {}, SAY.hiddenOptions), el("div", { class: "controls" },
        labelled(SAY.mySeat, this.seat), labelled(SAY.coach, this.coach), labelled(SAY.seed, this.seed, SAY.seedNote))));
  }

  showStart() {
    this.game = null;
    this.element.classList.add("first");
    fill(this.score, this.data.about.slice(0, 1).map((text) => el("p", { class: "goal" }, text)));
    this.#drawBoard(0, 0, false);
    fill(this.news);
    this.heading.textContent = SAY.newGame;
    fill(this.ask, this.setup);
    fill(this.tools);
    fill(this.coachPanel, el("p", {}, SAY.nothingToAsk));
    fill(this.movesPanel, el("p", {}, SAY.noMoves));
  }

  begin() {
    const k = Number(this.setup.elements.opponent.value);
    this.element.classList.remove("first");
    this.game = new HiddenGame(this.data, { seat: Number(this.seat.value), policy: this.data.policies[k - 1], seed: Number(this.seed.value) });
    this.seen = 0; // moves told before the last choice
    this.open("coach", false);
    this.#show();
  }

  #again() {
    this.seed.value = freshSeed();
    this.showStart();
    this.heading.focus();
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, [role=tab]")) return;
    const { game } = this;
    if (event.key === "n") this.#again();
    else if (event.key === "h" && game && !game.isOver) this.#askCoach();
    else if (/^[1-9]$/.test(event.key)) this.ask.querySelectorAll(".choices button")[event.key - 1]?.click();
  }

  // ---- the table

  #drawBoard(place, mover, isWhole) {
    const position = this.data.positions[place];
    const rows = this.data.boards[isWhole ? position.whole : position.board].map((row) =>
      row.map(([kind, text, numbers]) => ({ kind, text, numbers })));
    const names = [SAY.you, SAY.opponent];
    const seat = this.game?.seat ?? 0;
    const own = (after) => (after + mover + seat) % 2; // 0 for the person
    const look = { turns: own(0), players: 2, colour: (after) => `p${own(after)}`, isSecond: (after) => own(after) > 0, name: (after) => names[own(after)] };
    const before = snapshot(this.place.querySelector(".board"));
    const words = this.#words(position);
    fill(this.place, this.game?.isOver && el("p", { class: "result" }, this.#result()),
      drawBoard(rows, words || SAY.board, look), !this.game?.isOver && this.game && el("p", { class: "words" }, words));
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) slide(before, this.place.querySelector(".board"), 350);
  }

  #words({ told }) {
    return told && told[0].toUpperCase() + told.slice(1);
  }

  #result() {
    const payoff = this.game.payoff * (1 - 2 * this.game.seat);
    return payoff > 0 ? SAY.youWin : payoff < 0 ? SAY.youLose : SAY.drawn;
  }

  // A worth as people read it.
  #level(worth) {
    return this.data.is_chance ? `${fixed(50 * (1 + worth), this.digits)} %` : signed(fixed(worth, this.digits));
  }

  // What the numbers of both players are, and how sure.
  #sure() {
    return SAY.sureOf(SAY.worthOf(this.data), this.data.bound, pointsOf(this.data));
  }

  #cost(cost, unit = ` ${SAY.percentagePoints}`) {
    return this.data.is_chance ? `${fixed(50 * cost, this.digits)}${unit}` : fixed(cost, this.digits);
  }

  #show() {
    const { game } = this;
    const isOver = game.isOver;
    this.#drawBoard(game.place, game.mover, isOver);
    this.#showScore();
    const fresh = game.moves.slice(this.seen);
    const last = fresh.find(({ cost }) => cost !== undefined);
    const remark = last && (this.coach.value === "always" || (isOver && game.lost > this.noticed)) && (last.cost > this.noticed ? SAY.costOf(this.#cost(last.cost)) : SAY.costsNothing);
    fill(this.news, el("ul", {}, [...fresh.map(({ text, told }) => (isOver ? text : told)), remark].filter(Boolean).slice(-MOST_NEWS).map((text) => el("li", {}, text))));
    this.seen = game.moves.length;
    this.heading.textContent = isOver ? SAY.isOver : SAY.toMove(SAY.you);
    if (isOver) {
      fill(this.ask, el("p", {}, !this.data.is_chance && `${SAY.payoffIs(plain(game.payoff * (1 - 2 * game.seat), this.digits + 2))} `,
        game.lost > this.noticed ? SAY.lostInAll(this.#cost(game.lost)) : SAY.lostNothing),
        button(SAY.again, () => this.#again(), { class: "main" }));
      fill(this.tools);
    } else {
      const names = game.choices().map(({ name }) => name);
      fill(this.ask, el("div", { class: names.length > 8 ? "choices many" : "choices" }, names.map((name, k) => button(el("b", {}, name), () => this.#choose(k)))));
      fill(this.tools, button(SAY.newGame, () => this.#again()));
    }
    if (isOver) this.open("moves", false);
    this.isAsked = this.coach.value === "always";
    this.#showCoach();
    this.#showMoves();
    this.heading.focus({ preventScroll: true });
  }

  #choose(index) {
    this.game.choose(index);
    this.#show();
  }

  // The worth of the best choice, for both players.
  #showScore() {
    const { game } = this;
    const isSilent = !game.isOver && this.coach.value === "off";
    const worth = game.isOver ? game.payoff * (1 - 2 * game.seat) : Math.max(...game.choices().map((one) => one.worth ?? -Infinity));
    const isKnown = !isSilent && Number.isFinite(worth);
    const text = (one) => (game.isOver && !this.data.is_chance ? plain(one, this.digits + 2) : this.#level(one));
    const players = [[SAY.you, worth], [SAY.opponent, -worth]].map(([name, one], k) =>
      ({ name, isMoving: !game.isOver && k === 0, text: isKnown && text(one) }));
    const shares = this.data.is_chance && isKnown && [(1 + worth) / 2, (1 - worth) / 2];
    fill(this.score, scoreboard(players, shares, `${SAY.you}: ${this.#level(worth)}`,
      isSilent ? SAY.silent : game.isOver ? SAY.atEnd : this.#sure()));
  }

  // ---- beside the table

  #askCoach() {
    this.isAsked = this.coach.value !== "off";
    this.open("coach");
    this.#showCoach();
  }

  #showCoach() {
    const { game } = this;
    if (game.isOver) fill(this.coachPanel, el("p", {}, SAY.isOver));
    else if (!this.isAsked) {
      fill(this.coachPanel, el("p", {}, this.coach.value === "off" ? SAY.silent : SAY.askCoach),
        this.coach.value !== "off" && button(SAY.hint, () => this.#askCoach(), { class: "main" }));
    } else {
      const rows = game.choices().sort((a, b) => a.cost - b.cost || b.share - a.share);
      const marked = rows.flatMap(({ share }, k) => (share > 0 ? [k] : []));
      fill(this.coachPanel, table(SAY.advice, [SAY.choice, SAY.shareOfPlay, SAY.worthOf(this.data)],
        rows.map(({ name, share, worth }) => [name, barred("level best", share, `${fixed(100 * share, 2)} %`), worth === null ? "" : this.#level(worth)]), { numbers: [2], marked }),
      el("p", { class: "dim" }, SAY.mixed));
    }
  }

  #showMoves() {
    const { game } = this;
    fill(this.movesPanel, !game.moves.length ? el("p", {}, SAY.noMoves)
      : table(SAY.moves, [SAY.did, SAY.costs(pointsOf(this.data))], game.moves.map(({ text, told, cost }) => [game.isOver ? text : told,
        cost === undefined || (!game.isOver && this.coach.value === "off") ? "" : this.#cost(cost, "")]), { numbers: [1] }));
  }
}

// The answer and the strategies, as lines and tables.
function answerView(blocks) {
  return el("div", { class: "rules" }, blocks.map((block) => {
    if (typeof block === "string") return el("p", {}, block);
    const made = el("div");
    let shown = 0;
    const more = () => {
      shown += MOST_ROWS;
      fill(made, table(SAY.answer, block.heads, block.rows.slice(0, shown)), shown < block.rows.length && button(SAY.more, more));
    };
    more();
    return made;
  }));
}

// The unit of differences.
const pointsOf = ({ is_chance: isChance }) => (isChance ? SAY.percentagePoints : SAY.payoff);

async function start() {
  const data = JSON.parse(new TextDecoder().decode(await globalThis.known));
  let open = () => {};
  const view = new HiddenView(data, (...asked) => open(...asked));
  const rules = { element: rulesView(data, { sure: [SAY.certifiedHidden(data.bound, pointsOf(data)), SAY.fairHidden], keys: SAY.hiddenKeys }) };
  const made = tabs({ coach: { element: view.coachPanel }, moves: { element: view.movesPanel },
    answer: { element: answerView(data.blocks) }, rules });
  open = made.open;
  fill(document.querySelector("main"), view.element, made.side);
  open("rules", false);
  view.showStart();
}

show(start);
