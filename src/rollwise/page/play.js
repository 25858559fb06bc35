// The table of a game: position, choices, dice, coach and books.

import { drawBoard } from "./board.js";
import { die, el, fill, labelled, select, table } from "./dom.js";
import { plain } from "./figures.js";
import { Lost } from "./open_game.js";
import { freshSeed } from "./random.js";
import { Series } from "./series.js";
import { Session } from "./session.js";
import { conjugated } from "./speech.js";
import { SAY } from "./strings.js";

const MOST_UNASKED = 1000; // moves without a choice of a person
const MOST_BUTTONS = 30; // outcomes with buttons; more of them are a list
const MOST_TOLD = 12; // moves of others shown at once

export class PlayView {
  constructor({ game, figures, speech }) {
    Object.assign(this, { game, figures, speech });
    this.heading = el("h2", { tabindex: -1 });
    this.place = el("div", { class: "place" });
    this.news = el("div", { class: "news", role: "status", "aria-live": "polite" });
    this.ask = el("div", { class: "ask" });
    this.tools = el("div", { class: "tools" });
    this.advice = el("div", { class: "advice", role: "status", "aria-live": "polite" });
    this.books = el("div", { class: "books" });
    this.panel = el("section", { class: "panel", "aria-label": SAY.position, onkeydown: (e) => this.#key(e) },
      this.heading, this.place, this.ask, this.tools, this.advice, this.news);
    this.series = new Series({ game, figures, speech, playFrom: (state) => this.begin(state) });
    this.setup = this.#setUp();
    this.element = el("div", { class: "play" }, this.setup, el("div", { class: "columns" }, this.panel, this.books));
    this.begin();
  }

  // ---- a new game

  #setUp() {
    const { head } = this.game;
    const machines = head.policies.filter(({ name }) => name !== "optimal").map(({ name }) => name);
    const players = [["person", SAY.person], ["optimal", SAY.optimal],
      ...machines.map((name) => [`policy ${name}`, name]), ["random", SAY.random]];
    const names = head.players === 1 ? [SAY.player] : SAY.seats;
    this.seats = names.map((_, seat) => select(players, seat === 0 ? "person" : "optimal"));
    this.diceMode = select([["fall", SAY.diceFall], ["typed", SAY.diceTyped]]);
    this.coachMode = select(Object.entries(SAY.coaches), "ask");
    this.seed = el("input", { type: "number", min: 0, max: 2 ** 53 - 1, step: 1, inputmode: "numeric", required: true });
    this.seed.value = freshSeed();
    const form = el("form", { onsubmit: (event) => { event.preventDefault(); this.begin(); } },
      el("div", { class: "controls" },
        names.map((name, seat) => labelled(name, this.seats[seat])),
        labelled(SAY.dice, this.diceMode), labelled(SAY.coach, this.coachMode),
        labelled(SAY.seed, this.seed, SAY.seedNote)),
      el("button", { class: "main" }, SAY.begin));
    this.summary = el("summary", {}, SAY.newGame);
    return el("details", { class: "setup" }, this.summary, form);
  }

  begin(from = this.game.start) {
    this.#do(() => this.#begin(from));
  }

  async #begin(from) {
    const players = this.seats.map(({ value }) =>
      value === "person" ? null : value.replace("policy ", ""));
    this.session = new Session(this.game, players, { seed: Number(this.seed.value), from });
    this.coach = this.coachMode.value;
    this.byHand = this.diceMode.value === "typed";
    const people = players.filter((player) => player === null).length;
    let person = 0;
    this.names = players.map((player, seat) => {
      if (player === null) return people === 1 ? SAY.you : SAY.persons[person++];
      const twice = players.length === 2 && player === players[1 - seat];
      return twice ? `${player} (${[SAY.first, SAY.second][seat]})` : player;
    });
    this.eyes = Math.max(0, players.indexOf(null));
    this.isLettingStand = false;
    this.isHinted = false;
    this.told = 0;
    fill(this.news);
    fill(this.advice);
    this.setup.open = false;
    this.summary.replaceChildren(`${SAY.newGame} (${SAY.seed.toLowerCase()} ${this.session.seed})`);
    await this.#advance();
  }

  // Do something that may have to wait for a server. Other requests are ignored meanwhile.
  async #do(step) {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      await step();
    } catch (error) {
      fill(this.advice, el("p", { class: "warning" }, error.message),
        this.#button(SAY.goOn, () => this.#do(() => this.#goOn()), { class: "main" }));
      if (!(error instanceof Lost)) throw error;
    } finally {
      this.isBusy = false;
    }
  }

  // Go on where a server was waited for.
  async #goOn() {
    fill(this.advice);
    if (this.session.pending !== null) await this.#letFall();
    else await this.#advance();
  }

  #again() {
    this.seed.value = Number(this.seed.value) + 1;
    this.begin();
  }

  // ---- the course of a game

  async #advance() {
    const { session, game } = this;
    for (let moves = 0; !session.isOver && moves < MOST_UNASKED; moves++) {
      await game.ready(session.state);
      if (session.isPerson) break;
      if (session.pending === null) session.choose(session.machineChoice());
      await game.ready(session.state, session.pending);
      if (this.byHand && session.falls.length > 1) break;
      session.roll();
    }
    this.#show();
  }

  async #choose(place) {
    const { session } = this;
    session.choose(place);
    const isChoice = this.game.isChoice(session.state);
    const grade = isChoice ? session.grade(session.choices[place].cost) : null;
    this.isLettingStand = this.coach === "mistakes" && grade !== null;
    if (this.isLettingStand) {
      fill(this.advice, el("p", { class: "warning" }, this.#remark(session.state, place)));
      this.#show();
    } else await this.#letFall();
  }

  async #letFall() {
    const { session } = this;
    await this.game.ready(session.state, session.pending);
    this.isLettingStand = false;
    fill(this.advice);
    if (this.byHand && session.falls.length > 1) this.#show();
    else await this.#fallen(() => session.roll());
  }

  async #fallen(move) {
    this.isHinted = false;
    const entry = move();
    const isTold = this.coach === "always" && entry.isChoice && this.session.players[entry.seat] === null;
    fill(this.advice, isTold && el("p", {}, this.#remark(entry.state, entry.place)));
    await this.#advance();
  }

  #undo() {
    if (this.isBusy || !this.session.canUndo) return;
    this.session.undo();
    this.isLettingStand = false;
    this.isHinted = false;
    this.told = Math.min(this.told, this.session.accounts.length);
    fill(this.news);
    fill(this.advice, el("p", {}, SAY.undone));
    this.#show();
  }

  #hint() {
    if (this.isBusy || this.coach === "off" || this.session.isOver || !this.game.isChoice(this.session.state)) return;
    this.isHinted = true;
    fill(this.advice, this.choiceTable(this.session.state, SAY.advice));
  }

  // The coach's text about an action in a state.
  #remark(state, place) {
    const choices = this.game.choices(state);
    const { cost, isBest } = choices[place];
    if (isBest) return SAY.nothingBetter;
    const best = choices[this.game.best(state)].name;
    return SAY.mistake(this.session.grade(cost), this.figures.costText(cost), best);
  }

  // The value of each choice, the best first.
  choiceTable(state, caption) {
    const rows = this.game.choices(state).sort((a, b) => a.cost - b.cost);
    return table(caption, [SAY.choice, this.figures.unit, SAY.costs(this.figures.points)],
      rows.map((row) => [`${row.isBest ? "→ " : ""}${row.name}`, this.figures.level(row.value),
        row.isBest ? SAY.best : this.figures.cost(row.cost)]),
      { numbers: [1, 2], marked: rows.flatMap((row, i) => (row.isBest ? [i] : [])) });
  }

  // ---- display

  #show() {
    const { session } = this;
    const hadFocus = this.panel.contains(document.activeElement);
    this.heading.textContent = session.isOver ? SAY.isOver : SAY.toMove(this.names[session.seat]);
    fill(this.place, session.isOver ? el("p", { class: "result" }, this.#result()) : this.position(session.state));
    this.#tell();
    fill(this.ask, this.#asked());
    this.#showTools();
    this.#showBooks();
    if (hadFocus) (this.ask.querySelector("button, input, select") ?? this.heading).focus({ preventScroll: true });
  }

  // A position: board, words and fields.
  position(state) {
    const { game, speech } = this;
    const cells = game.board(state);
    const board = cells ? "" : game.shown(state);
    const thrown = speech.thrown(state);
    const faces = game.facesThrown(state);
    const words = game.described(state);
    const isWorthShown = this.coach === "always" && state === this.session.state;
    return [
      cells && drawBoard(cells, SAY.board),
      board && el("pre", { tabindex: 0, role: "img", "aria-label": SAY.board }, board),
      words ? el("p", { class: "words" }, words)
        : el("dl", { class: "fields" }, speech.fields(state).map(([name, text]) =>
          el("div", {}, el("dt", {}, name), el("dd", {}, text)))),
      faces.length > 0 ? el("p", { class: "thrown" }, faces.map((face) => die(face, String(face), 6, SAY.die(face))))
        : thrown && el("p", { class: "thrown" }, `${SAY.thrown}: `, el("strong", {}, thrown)),
      isWorthShown && el("p", {}, `${this.figures.unit}: ${this.figures.level(game.value(state))}`),
    ];
  }

  // The moves since a person last had a say.
  #tell() {
    const { accounts } = this.session;
    const fresh = accounts.slice(this.told);
    this.told = accounts.length;
    if (!fresh.length) return;
    const left = fresh.length - MOST_TOLD;
    fill(this.news, el("ul", {},
      left > 0 && el("li", {}, "…"),
      fresh.slice(-MOST_TOLD).map((entry) => el("li", {}, this.#move(entry)))));
  }

  #move(entry) {
    const { game, speech } = this;
    const { state, place } = entry;
    const name = this.names[entry.seat];
    const dice = entry.faces.map((face, i) =>
      die(face, speech.face(face), game.dice(state, place).sides[i], SAY.die(speech.face(face))));
    const deed = conjugated(speech.deed(state, place), name === SAY.you);
    const [before, ...after] = deed.split("{}");
    const did = [before, after.length || !dice.length ? "" : " ", dice, after.join(" ")];
    if (game.isThrow(state) && game.isLayered) {
      const thrown = game.facesThrown(entry.outcome.target);
      return [el("b", {}, name), " ", did, " ", thrown.length > 0
        ? thrown.map((face) => die(face, String(face), 6, SAY.die(face)))
        : el("strong", { class: "die" }, this.#cameOf(entry))];
    }
    const isScored = game.head.objective !== "win" && entry.gain !== 0;
    const score = isScored ? SAY.soFarIs(plain(entry.points + entry.gain)) : "";
    const came = [this.#cameOf(entry), score].filter(Boolean).join("; ");
    return [el("b", {}, name), " ", did, came && `: ${came}`];
  }

  #cameOf(entry) {
    return this.speech.cameOfMove(entry.state, entry.place, entry.outcome);
  }

  // The question to the player: a choice, a confirmation of a mistake, or the faces of the dice.
  #asked() {
    const { session } = this;
    if (session.isOver) return this.#button(SAY.again, () => this.#again(), { class: "main" });
    if (this.isLettingStand) {
      return [this.#button(SAY.letStand, () => this.#do(() => this.#letFall())),
        this.#button(SAY.takeBack, () => this.#undo(), { class: "main" })];
    }
    if (session.pending !== null) return this.#askDice();
    if (!session.isPerson) return this.#button(SAY.goOn, () => this.#do(() => this.#advance()), { class: "main" });
    const choices = session.choices;
    return el("fieldset", {}, el("legend", {}, SAY.choose),
      choices.map((choice, i) => {
        const key = i < 9 ? String(i + 1) : null;
        const worth = this.coach === "always" && choices.length > 1 ? this.figures.level(choice.value) : null;
        return this.#button([choice.name, worth && el("small", {}, `${worth}${choice.isBest ? `, ${SAY.best}` : ""}`)],
          () => this.#do(() => this.#choose(i)), { "data-key": key, "aria-keyshortcuts": key, class: choices.length === 1 ? "main" : null });
      }));
  }

  #askDice() {
    const { session } = this;
    const dice = this.game.dice(session.state, session.pending);
    const name = this.game.names(session.state)[session.pending];
    if (dice) {
      const inputs = dice.sides.map((sides, i) => {
        const options = Array.from({ length: sides }, (_, k) => [k + 1, this.speech.face(k + 1)]);
        return [labelled(SAY.showDie(i + 1, dice.sides.length), select(options))];
      });
      const form = el("form", { class: "dice", onsubmit: (event) => {
        event.preventDefault();
        const faces = [...form.querySelectorAll("select")].map((one) => Number(one.value));
        this.#do(() => this.#fallen(() => session.throw(faces)));
      } }, el("p", {}, `${this.names[session.seat]}: ${name}`), inputs, el("button", { class: "main" }, SAY.take));
      return form;
    }
    const falls = session.falls.map((fall) => [fall.number,
      this.speech.came(session.state, session.pending, fall), SAY.ways(plain(fall.weight), plain(fall.total))]);
    const title = el("legend", {}, `${this.names[session.seat]}: ${name}. ${SAY.showOutcome}`);
    if (falls.length <= MOST_BUTTONS) {
      return el("fieldset", {}, title, falls.map(([number, text, ways], i) =>
        this.#button([text, el("small", {}, ways)], () => this.#do(() => this.#fallen(() => session.fall(number))),
          { "data-key": i < 9 ? String(i + 1) : null })));
    }
    const list = select(falls.map(([number, text, ways]) => [number, `${text} (${ways})`]));
    list.setAttribute("aria-label", SAY.showOutcome);
    return el("fieldset", {}, title, list,
      this.#button(SAY.take, () => this.#do(() => this.#fallen(() => session.fall(Number(list.value)))), { class: "main" }));
  }

  #button(text, act, given = {}) {
    return el("button", { type: "button", onclick: act, ...given }, text);
  }

  #showTools() {
    const { session } = this;
    const canAsk = this.coach !== "off" && !session.isOver && session.pending === null
      && session.isPerson && this.game.isChoice(session.state);
    fill(this.tools,
      canAsk && this.#button(SAY.hint, () => this.#hint(), { "aria-keyshortcuts": "h" }),
      session.canUndo && this.#button(SAY.undo, () => this.#undo(), { "aria-keyshortcuts": "u" }));
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
    const acts = { h: () => this.#hint(), u: () => this.#undo(), n: () => {
      this.setup.open = true;
      this.seats[0].focus();
    } };
    const button = this.ask.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (button) button.click();
    else if (acts[event.key]) acts[event.key]();
    else return;
    event.preventDefault();
  }

  #result() {
    const { session, names } = this;
    const { head } = this.game;
    const last = session.accounts.at(-1);
    if (head.objective !== "win") return SAY.scored(plain(session.points));
    const result = last.after; // in the eyes of the first player
    if (head.has_stakes) return SAY.gained(names[0], plain(result));
    if (head.players === 1) return result > 0 ? SAY.youWin : result < 0 ? SAY.youLose : SAY.drawn;
    if (result === 0) return SAY.drawn;
    const winner = names[result > 0 ? 0 : 1];
    return winner === SAY.you ? SAY.youWin : SAY.hasWon(winner);
  }

  // ---- the books

  #showBooks() {
    const { session } = this;
    const isSilent = this.coach === "off" && !session.isOver;
    this.series.note(session, this.names, this.eyes);
    const wasOpen = this.books.querySelector("details")?.open;
    fill(this.books, el("details", { open: session.isOver || wasOpen },
      el("summary", {}, SAY.luckAndSkill),
      isSilent ? el("p", {}, SAY.silent) : this.#ledger(),
      session.accounts.length ? this.#moves(isSilent) : el("p", {}, SAY.noMoves)),
    this.series.element(isSilent) ?? []);
  }

  #ledger() {
    const { session, names, figures, eyes } = this;
    const { start, result, luck, skill } = session.ledger(eyes);
    const rows = [[SAY.atStart, figures.level(start)]];
    [eyes, 1 - eyes].slice(0, names.length).forEach((seat, i) => {
      rows.push([SAY.luckOf(names[seat]), figures.change(luck[i])]);
      rows.push([SAY.skillOf(names[seat]), figures.change(skill[i])]);
    });
    rows.push([session.isOver ? SAY.atEnd : SAY.now, figures.level(result)]);
    const few = this.game.head.objective === "minimize" ? SAY.fewGood : "";
    return [
      el("p", {}, SAY.inEyes(names[eyes], figures.unit, figures.points) + few),
      table(SAY.luckAndSkill, ["", figures.unit], rows, { numbers: [1] }),
      session.players.map((player, seat) => player === null && el("p", {},
        names.length > 1 && el("b", {}, `${names[seat]}: `), this.#judged(seat))),
    ];
  }

  #judged(seat) {
    const made = this.session.accounts.filter((entry) => entry.seat === seat && entry.isChoice);
    const graded = [...this.game.head.grades].reverse().flatMap(([grade]) => {
      const n = made.filter((entry) => this.session.grade(entry.cost) === grade).length;
      return n ? [`${n} ${grade}`] : [];
    });
    const mean = made.reduce((sum, entry) => sum + entry.cost, 0) / Math.max(1, made.length);
    return SAY.decisions(made.length, graded.join(", "), this.figures.cost(mean), this.figures.points);
  }

  #moves(isSilent) {
    const { accounts } = this.session;
    const sign = this.eyes === 0 ? 1 : -1;
    const rows = accounts.map((entry) => [
      this.names[entry.seat],
      this.speech.did(entry.state, entry.place, entry.faces),
      this.#cameOf(entry),
      ...(isSilent ? [] : [
        entry.isChoice && entry.isMistake ? this.figures.cost(entry.cost) : "",
        this.figures.change(sign * (entry.after - entry.chosen)),
      ]),
    ]).reverse();
    const columns = [SAY.who, SAY.did, SAY.came, ...(isSilent ? [] : [SAY.lost, SAY.luck])];
    return [el("h3", {}, SAY.moves), table(SAY.moves, columns, rows, { numbers: [3, 4] })];
  }
}
