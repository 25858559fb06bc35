// The stage: the course of a game, with its board, dice and choices on one screen.

import { changedCells, drawBoard, drawDie, drawFields, slide, snapshot } from "./board.js";
import { CoachView } from "./coach.js";
import { Drill } from "./drill.js";
import { button, die, el, fill, labelled, opponentCards, pressable, scoreboard, scrollable, select } from "./dom.js";
import { dragged, editable, tapped } from "./edit.js";
import { fixed, plain } from "./figures.js";
import { MovesView } from "./moves.js";
import { Lost } from "./open_game.js";
import { freshSeed } from "./random.js";
import { Series } from "./series.js";
import { Session } from "./session.js";
import { here, resultPicture, resultText, share } from "./share.js";
import { addressOf, keep, kept, packed, unpacked } from "./store.js";
import { SAY } from "./strings.js";

const MOST_ASKED = 3; // mistakes of a game, in the drill after it
const MOST_UNASKED = 1000; // moves without a choice of a person
const MOST_BUTTONS = 30; // outcomes with buttons; more of them are a list
const MOST_TOLD = 6; // moves of others shown at once
const MOST_SLIDING = 450; // milliseconds of a piece on its way
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden;
const PACES = { slow: 1800, usual: 900, fast: 350, instant: 0 }; // milliseconds a move of others

export class PlayView {
  constructor({ game, figures, speech, open, slices }) {
    Object.assign(this, { game, figures, speech, open, slices });
    this.heading = el("h2", { tabindex: -1 });
    this.score = el("div", { class: "score" });
    this.place = scrollable(el("div", { class: "place" }));
    this.dice = el("div", { class: "dice" });
    this.news = el("div", { class: "news", tabindex: 0, role: "status", "aria-live": "polite" });
    this.warning = el("div", { role: "alert" });
    this.ask = el("div", { class: "ask" });
    this.tools = el("div", { class: "tools" });
    this.series = new Series({ game, figures, speech, ask: (state) => this.drillOf([state]) });
    this.coachView = new CoachView(this);
    this.movesView = new MovesView(this);
    this.setup = this.#setUp();
    if (game.head.is_open) this.#rate();
    this.element = el("section", { class: "stage", "aria-label": SAY.table },
      this.score, this.place, el("div", { class: "tray" }, this.dice, this.news),
      el("div", { class: "bottom" }, this.heading, this.warning, this.ask, this.tools));
    document.addEventListener("keydown", (event) => this.#key(event));
    // a state on view instead of the one of the game: { state, number, seat }, in a drill also { isAsked, guess }
    this.seen = null;
    this.session = null;
  }

  // The game of an earlier visit, or the first screen, or another view.
  async start(view = null) {
    const old = kept(this.game);
    if (old) {
      try {
        const again = (one) => unpacked(this.game, one).then((session) => ({ ...one, session }));
        this.series.games = await Promise.all(old.games.map(again));
        if (old.current) {
          const { session, names, eyes, coach, byHand, pace } = await again(old.current);
          this.#setUpAs(session.players, [coach, byHand ? "typed" : "fall", pace], session.seed);
          Object.assign(this, { session, names, eyes, coach, byHand, pace, told: session.accounts.length });
          this.open("coach", false);
          if (view === null) {
            await this.#do(() => this.#advance());
            return;
          }
        }
      } catch { /* of another version, or without a server: begin anew */ }
    }
    if (view === null) this.#showStart();
    else await view();
  }

  // ---- a new game

  #setUp() {
    const { head } = this.game;
    const machines = head.policies.filter(({ name }) => name !== "optimal").map(({ name }) => name);
    const players = [["person", SAY.person], ["optimal", SAY.perfect],
      ...machines.map((name) => [`policy ${name}`, name]), ["random", SAY.random]];
    const names = head.players === 1 ? [SAY.player] : this.game.zeros.map((_, k) => SAY.seat(k));
    this.seats = names.map((_, seat) => select(players, seat === 0 ? "person" : "optimal"));
    this.diceMode = select([["fall", SAY.diceFall], ["typed", SAY.diceTyped]]);
    this.coachMode = select(Object.entries(SAY.coaches), "ask");
    this.paceMode = select(Object.keys(PACES).map((name) => [name, SAY.paces[name]]), "usual");
    this.seed = el("input", { type: "number", min: 0, max: 2 ** 53 - 1, step: 1, inputmode: "numeric", required: true });
    this.seed.value = freshSeed();
    const hasChoice = head.is_open || head.menus.some((menu) => menu.length > 1);
    const opponents = [!hasChoice && el("p", {}, SAY.noChoice),
      head.players === 1 ? this.#measures() : hasChoice && this.#opponents(players.slice(1))];
    return el("form", { class: "setup", onsubmit: (event) => { event.preventDefault(); this.begin(); } },
      opponents,
      el("div", { class: "starts" }, el("button", { class: "main start" }, SAY.begin),
        hasChoice && button(SAY.drill, () => this.drillOf([], true))),
      el("details", {}, el("summary", {}, SAY.options),
        el("div", { class: "controls" },
          names.map((name, seat) => labelled(name, this.seats[seat])), labelled(SAY.coach, this.coachMode),
          labelled(SAY.dice, this.diceMode), labelled(SAY.pace, this.paceMode),
          labelled(SAY.seed, this.seed, SAY.seedNote))));
  }

  // Set up a new game like one of an earlier visit; one with another policy isn't of this page.
  #setUpAs(players, modes, seed) {
    const values = players.map((name) => (name === null ? "person" : ["optimal", "random"].includes(name) ? name : `policy ${name}`));
    const lists = [...this.seats, this.coachMode, this.diceMode, this.paceMode];
    const chosen = [...values, ...modes];
    if (!lists.every(({ options }, k) => [...options].some(({ value }) => value === chosen[k]))) throw new Error("a player is unknown here");
    lists.forEach((list, k) => { list.value = chosen[k]; });
    const other = values.find((value) => value !== "person");
    for (const radio of this.setup.querySelectorAll("[name=opponent]")) radio.checked = radio.value === other;
    this.seed.value = seed;
  }

  // Cards of opponents, each with a certified label.
  #opponents(players) {
    const cards = players.map(([value, name]) =>
      ({ value, name, strength: this.#strength(value), about: this.game.head.policies.find((one) => `policy ${one.name}` === value)?.about }));
    this.aboutTies = el("p", { hidden: !this.game.head.losses_rest_on_ties }, SAY.restsOnTies);
    return [opponentCards(SAY.against(this.game.head.players, !this.game.head.is_score), cards, (value) => this.#sitDown(value)), this.aboutTies, this.#failed()];
  }

  // The policies of the rules that fail in some position, and so are no opponents.
  #failed() {
    const { failed } = this.game.head;
    return failed.length > 0 && el("p", { class: "warning" }, SAY.failed(failed));
  }

  // The opponents of the first person.
  #sitDown(value) {
    const me = Math.max(0, this.seats.findIndex((seat) => seat.value === "person"));
    this.seats.forEach((seat, k) => { seat.value = k === me ? "person" : value; });
  }

  #strength(value) {
    const { head } = this.game;
    const policy = value.replace("policy ", "");
    if (policy === "optimal") return head.players > 2 ? SAY.equilibrium : head.is_score ? SAY.losesNothing : SAY.unbeatable;
    if (policy in head.shares) return SAY.sharedWith(head.has_stakes ? this.figures.level(head.shares[policy]) : `${fixed(100 * head.shares[policy], 2)} %`, head.players, head.has_stakes);
    const lost = head.losses.find(({ name }) => name === policy)?.loss;
    if (lost === undefined) return head.is_open && !this.isRated ? SAY.beingRated : "";
    return head.is_score ? SAY.losesTo(this.figures.cost(lost)) : SAY.isBeaten(this.figures.level(lost));
  }

  // The strengths of the opponents of a served game come later.
  async #rate() {
    Object.assign(this.game.head, await this.game.opponents().catch(() => ({ losses: [] })));
    this.isRated = true;
    if (this.aboutTies) this.aboutTies.hidden = !this.game.head.losses_rest_on_ties; // a game for two has it
    for (const label of this.setup.querySelectorAll("[data-policy]")) label.textContent = this.#strength(label.dataset.policy);
    this.setup.querySelector(".measures")?.replaceWith(this.#measures());
  }

  // How well perfect play and rules of thumb do in a game for one.
  #measures() {
    const { figures, game } = this;
    const machines = game.head.policies.map(({ name }) => name).filter((name) => name !== "optimal");
    const { average } = game.head; // of a game without an end: points are compared to it
    return el("ul", { class: "measures" }, el("li", {}, `${SAY.perfect}: `, el("b", {}, figures.level(average ?? game.value(game.start))), ` ${average == null ? SAY.average(figures.isScore) : SAY.longRun}`),
      machines.map((name) => {
        const lost = game.head.losses.find((one) => one.name === name);
        const isAsGood = lost && figures.scale * lost.loss <= 2 * Number(game.head.bound);
        return lost && el("li", {}, isAsGood ? SAY.asGood(name) : SAY.worseBy(name, figures.costText(lost.loss)));
      }), game.head.failed.length > 0 && el("li", {}, SAY.failed(game.head.failed)));
  }

  #showStart() {
    this.seen = this.drill = this.session = null;
    const { head } = this.game;
    this.element.classList.add("first");
    fill(this.score, el("p", { class: "goal" }, head.goal), el("p", { class: "aim" }, SAY.aim(head)));
    this.#do(async () => {
      await this.game.ready(this.game.start);
      fill(this.place, this.#drawn(this.game.start, this.#look(0, this.#strangers)));
      });
    fill(this.news);
    fill(this.dice);
    fill(this.warning);
    fill(this.tools);
    this.heading.textContent = SAY.newGame;
    fill(this.ask, this.setup);
    this.coachView.clear();
    this.movesView.show();
  }

  begin(from = this.game.start) {
    return this.#do(() => this.#begin(from));
  }

  async #begin(from) {
    const players = this.seats.map(({ value }) => (value === "person" ? null : value.replace("policy ", "")));
    this.session = new Session(this.game, players, { seed: Number(this.seed.value), from });
    this.coach = this.coachMode.value;
    this.byHand = this.diceMode.value === "typed";
    this.pace = this.paceMode.value;
    const people = players.filter((player) => player === null).length;
    let person = 0;
    this.names = players.map((player, seat) => {
      if (player === null) return people === 1 ? SAY.you : SAY.persons(++person);
      const equals = players.flatMap((other, k) => (other === player ? [k] : []));
      const name = player === "optimal" ? SAY.perfect : player;
      return equals.length > 1 ? `${name} ${equals.indexOf(seat) + 1}` : name;
    });
    this.eyes = Math.max(0, players.indexOf(null));
    this.isLettingStand = false;
    this.told = 0;
    this.open("coach", false);
    fill(this.news);
    this.coachView.clear();
    await this.#advance();
  }

  // Do something that may have to wait for a server, or for moves of others. Other requests are
  // ignored meanwhile.
  async #do(step) {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      await step();
    } catch (error) {
      fill(this.warning, el("p", { class: "warning" }, error.message),
        button(SAY.goOn, () => this.#do(() => this.#goOn()), { class: "main" }));
      if (!(error instanceof Lost)) throw error;
    } finally {
      this.isBusy = false;
    }
  }

  // Go on where a server was waited for.
  async #goOn() {
    fill(this.warning);
    if (this.session === null) this.#showStart();
    else if (this.session.pending !== null) await this.#letFall();
    else await this.#advance();
  }

  #again() {
    this.seed.value = Number(this.seed.value) + 1;
    this.begin();
  }

  // ---- the course of a game

  async #advance() {
    const { session, game } = this;
    this.seen = this.drill = null;
    this.element.classList.remove("first");
    this.isHurried = false;
    for (let moves = 0; !session.isOver && moves < MOST_UNASKED; moves++) {
      await game.ready(session.state);
      if (session.isPerson) {
        await game.ahead(session.state);
        break;
      }
      if (session.pending === null) session.choose(session.machineChoice());
      await game.ready(session.state, session.pending);
      if (this.byHand && session.falls.length > 1) break;
      session.roll();
      await this.#pause();
    }
    if (session.isOver) this.open("moves", false);
    this.#show();
    this.save();
  }

  // Show a move of another player for a while.
  async #pause() {
    const { session, game } = this;
    if (isStill() || this.isHurried || session.isOver || !session.players.includes(null)) return;
    await game.ready(session.state);
    this.#show(true);
    await new Promise((wake) => {
      this.hurry = wake;
      setTimeout(wake, PACES[this.pace] ?? 0);
    });
  }

  async #choose(place) {
    const { session } = this;
    session.choose(place);
    const isChoice = this.game.isChoice(session.state);
    const grade = isChoice ? this.game.grade(session.choices[place].cost) : null;
    this.isLettingStand = this.coach === "mistakes" && grade !== null;
    if (this.isLettingStand) this.#show();
    else await this.#letFall();
  }

  async #letFall() {
    const { session } = this;
    await this.game.ready(session.state, session.pending);
    this.isLettingStand = false;
    fill(this.warning);
    if (this.byHand && session.falls.length > 1) this.#show();
    else await this.#fallen(() => session.roll());
  }

  async #fallen(move) {
    const entry = move();
    const isTold = this.coach === "always" && entry.isChoice && this.session.players[entry.seat] === null;
    this.coachView.clear(isTold && this.remark(entry.state, entry.place));
    if (!this.session.isOver && !this.session.isPerson) await this.#pause();
    await this.#advance();
  }

  #undo() {
    if (this.isBusy || !this.session?.canUndo) return;
    this.session.undo();
    this.isLettingStand = false;
    this.told = Math.min(this.told, this.session.accounts.length);
    this.seen = null;
    fill(this.news, el("p", {}, SAY.undone));
    this.coachView.clear();
    this.#show();
    this.save();
  }

  #hint() {
    const { session, game, seen } = this;
    if (this.isBusy || !session || this.coach === "off" || session.isOver || seen || !game.isChoice(session.state)) return;
    this.open("coach", false);
    this.coachView.advise(session.state);
    this.#show();
  }

  // The coach's text about an action in a state.
  remark(state, place) {
    const choices = this.game.choices(state);
    const { cost, isBest } = choices[place];
    if (isBest) return SAY.nothingBetter;
    return SAY.mistake(this.game.grade(cost), this.figures.costText(cost), this.game.bestNames(state));
  }

  save() {
    const { session, names, eyes, coach, byHand, pace } = this;
    const plain = (one, more) => packed(one, { names: more.names, eyes: more.eyes, coach, byHand, pace });
    keep(this.game, {
      current: session && plain(session, { names, eyes }),
      games: this.series.games.filter((one) => one.session !== session).map((one) => plain(one.session, one)),
    });
  }

  // ---- another view: a position that is looked at, or an earlier one of the game

  async look(state, number = null) {
    await this.#do(() => this.#view(state, number));
  }

  async #view(state, number = null) {
    await this.game.ready(state);
    const throws = number === null ? await this.#throwsIn(this.game.position(state)) : [];
    const seat = number === null ? this.eyes ?? 0 : this.session.accounts[number].seat;
    this.drill = null;
    this.seen = { state, number, seat, throws };
    this.element.classList.remove("first");
    this.#show();
    if (number === null) this.open("coach", false);
    this.coachView.advise(state, number === null ? null : this.session.accounts[number].place);
  }

  // Look at a position that was set up by hand; its throw stays where it can.
  async #edit(place, changed, cell) {
    const at = await changed();
    const find = (more) => (at ? this.slices.stateAt({ at, ...more }) : -1);
    let state = await find({ thrown: place.thrown, left: place.left });
    if (state < 0) state = await find({ thrown: null, left: null });
    if (state < 0) {
      fill(this.warning, el("p", { class: "warning" }, SAY.cannotEdit));
      return;
    }
    await this.#view(state);
    history.replaceState(null, "", this.addressOf(state));
    if (cell) this.place.querySelector(".board").cells[cell[0]][cell[1]].focus({ preventScroll: true });
  }

  // The outcomes of the throw in a position; none without a throw.
  async #throwsIn(position) {
    const { game } = this;
    await game.ready(position);
    if (!game.isThrow(position)) return [];
    await game.ready(position, 0);
    return game.outcomes(position, 0).filter(({ isOver }) => !isOver);
  }

  // A position on view is an editor: its board by taps, its fields and its throw by lists.
  #offerEdits() {
    const { game, seen } = this;
    const { state, throws } = seen;
    const place = this.slices.placeOf(state);
    const edit = (changed, cell) => this.#do(() => this.#edit(place, changed, cell));
    const board = this.place.querySelector(".board");
    if (board) {
      editable(board, game.board(state), SAY.cell, {
        tap: (cell, share) => edit(() => tapped(game, state, cell, share), cell),
        drag: (from, to) => edit(() => dragged(game, state, from, to), to),
      });
    }
    const row = game.row(state);
    const typed = game.fieldNames.flatMap((_, f) => {
      const numbers = game.members(f, 0) || row[f] === game.head.no_throw ? [] : game.valuesOf(f);
      if (numbers.length < 2) return [];
      const typed = (text) => edit(() => row.with(f, Number(text)));
      const hasWords = numbers.some((number) => game.valueText(f, number) !== String(number));
      const input = hasWords ? select(numbers.map((number) => [number, game.valueText(f, number)]), row[f], typed)
        : el("input", { type: "number", min: numbers[0], max: numbers.at(-1), value: row[f], onchange: () => typed(input.value) });
      return [labelled(game.label(f), input)];
    });
    const list = throws.length > 1 && select(throws.map((one) => [one.target, this.speech.throwText(one)]), state, (text) => {
      history.replaceState(null, "", this.addressOf(Number(text)));
      this.look(Number(text));
    });
    return el("div", { class: "controls" }, typed, list && labelled(SAY.throwField, list));
  }

  // Step through the game.
  async step(number) {
    const { session } = this;
    if (!session?.accounts.length) return;
    if (number >= session.accounts.length) await this.#do(() => this.#back());
    else await this.look(session.accounts[Math.max(0, number)].state, Math.max(0, number));
  }

  async #back() {
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    this.coachView.clear();
    if (this.session) await this.#advance();
    else this.#showStart();
  }

  back() {
    return this.#do(() => this.#back());
  }

  // ---- a drill: the answer comes after the guess

  async drillOf(states, isEndless = false) {
    this.drill = new Drill(this.game, states, isEndless);
    await this.#do(() => this.#question());
  }

  async #question() {
    const state = await this.drill.next();
    if (state === null) {
      await this.#back();
      fill(this.warning, el("p", { class: "warning" }, SAY.noPositions));
      return;
    }
    await this.game.ahead(state);
    this.seen = { state, number: null, seat: this.eyes ?? 0, isAsked: true, guess: null };
    this.element.classList.remove("first");
    this.open("coach", false);
    this.coachView.clear(SAY.drillNote);
    fill(this.news);
    this.#show();
  }

  #guess(place) {
    const { seen, drill } = this;
    seen.guess = place;
    drill.answer(seen.state, this.game.choices(seen.state)[place].isBest);
    this.coachView.advise(seen.state, place);
    this.#show();
  }

  #shareQuestion() {
    const { game, speech } = this;
    const { state, guess } = this.seen;
    const thrown = speech.thrown(state);
    const position = speech.position(state) + (thrown ? `; ${SAY.thrown} ${thrown}` : "");
    share([SAY.sharedQuestion(game.head.name, position, game.names(state)),
      guess !== null && SAY.sharedAnswer(game.choices(state)[guess].isBest),
      `${here()}${this.addressOf(state)}?`].filter(Boolean).join("\n"));
  }

  // The result of a game, for others.
  #shareResult() {
    const { session, game, figures, names, eyes } = this;
    const { start, result, luck } = session.ledger(eyes);
    const own = session.accounts.filter((entry) => entry.seat === eyes && entry.isChoice);
    const others = names.filter((_, seat) => seat !== eyes).join(", ");
    const up = figures.isScore ? game.head.sign : 1; // better is higher
    const line = [...session.accounts.map((entry) => entry.before[eyes]), result].map((level) => up * level);
    const [low, high] = figures.isScore ? [Math.min(...line), Math.max(...line)] : [-1, 1];
    const told = {
      title: game.head.name,
      result: game.head.objective !== "win" ? SAY.sharedScore(figures.amount(session.points[eyes]), figures.level(start))
        : game.head.has_stakes ? SAY.sharedGain(figures.amount(result), others) : SAY.sharedEnd(game.decided(result), others),
      grades: own.map((entry) => this.movesView.grade(entry)),
      lost: figures.costText(own.reduce((sum, { cost }) => sum + cost, 0)),
      luck: figures.gain(luck.reduce((sum, one) => sum + one, 0)),
      levels: line.map((level) => (level - low) / (high - low || 1)),
    };
    share(resultText(told), resultPicture(told), game.head.name);
  }

  // ---- display

  #look(mover, names = this.names ?? this.#strangers, eyes = 0) {
    const n = names.length;
    const own = (after) => (after + mover - eyes + n) % n;
    return { turns: own(0), players: n, colour: (after) => `p${own(after)}`, isSecond: (after) => own(after) > 0,
      name: (after) => names[(mover + after) % n] };
  }

  #show(isMoving = false) {
    const { session, seen } = this;
    const hadFocus = this.element.contains(document.activeElement) && document.activeElement !== document.body;
    const state = seen ? seen.state : session.state;
    const isOver = !seen && session.isOver;
    const mover = seen && !session ? 0 : seen?.seat ?? session.seat;
    this.heading.textContent = isOver ? (this.game.head.average == null ? SAY.isOver : SAY.isBack) : seen?.isAsked ? SAY.question(this.drill) : seen ? (seen.number === null ? SAY.lookedAt : SAY.moveOf(seen.number + 1, session.accounts.length))
      : SAY.toMove(this.names[session.seat]);
    const before = isStill() ? null : snapshot(this.place.querySelector(".board"));
    const last = isOver ? session.accounts.at(-1) : null;
    const end = last && this.game.final(last.outcome);
    fill(this.place, isOver && el("p", { class: "result" }, this.#result()),
      this.#drawn(end ?? last?.state ?? state, this.#look(last?.seat ?? mover, undefined, this.eyes ?? 0), isOver));
    slide(before, this.place.querySelector(".board"), Math.min(MOST_SLIDING, PACES[this.pace] ?? 0));
    this.#showScore(mover);
    if (!seen) this.#tell(isMoving);
    this.#showDice(state, isOver);
    const [state_, place] = seen?.isAsked ? [seen.state, seen.guess] : this.isLettingStand ? [session.state, session.pending] : [];
    fill(this.warning, place != null && el("p", { class: "warning" }, this.remark(state_, place)));
    fill(this.ask, this.#asked(isMoving));
    this.#showMoves();
    this.#letKeep(state);
    this.#showTools();
    this.movesView.show();
    if (this.coach === "always" && !seen && !isOver && !isMoving && session.isPerson && session.pending === null && this.game.isChoice(state)) this.coachView.advise(state);
    else if (!seen) {
      const isAsked = !isOver && session.isPerson && session.pending === null;
      const isChoice = isAsked && this.game.isChoice(state);
      this.coachView.offer(isChoice && this.coach !== "off", () => this.#hint(), isAsked && !isChoice ? state : null);
    }
    const first = this.ask.querySelector(seen ? ":scope > button, .choices button" : "button, input, select");
    if (hadFocus && !isMoving) (first ?? this.heading).focus({ preventScroll: true });
  }

  // A position: its board and, before the end of a game, its words as the mover says them.
  #drawn(state, look, isOver = false) {
    const { game, speech } = this;
    const cells = game.board(state);
    const board = cells ? "" : game.shown(state);
    const words = game.head.describes ? game.described(state) : "";
    const name = words || `${SAY.board}: ${speech.position(state)}`;
    this.hasDice = cells?.some((row) => row.some(({ kind }) => kind === "die"));
    return [
      cells ? drawBoard(cells, name, look)
        : board ? el("pre", { tabindex: 0, role: "img", "aria-label": name }, board)
          : drawFields(game, state, name, look),
      words && !isOver && el("p", { class: "words" }, look.turns ? `${look.name(0)}: ${words}` : words),
    ];
  }

  // Names of players before a game.
  get #strangers() {
    const isOne = this.game.head.players < 3;
    return this.game.zeros.map((_, k) => (k === 0 ? SAY.you : isOne ? SAY.opponent : `${SAY.opponent} ${k}`));
  }

  // The position as the map shows it.
  position(state) {
    return el("div", { class: "small place" }, this.#drawn(state, this.#look(0, this.#strangers)));
  }

  // The dice on the table: those of the throw to be played, or the last ones.
  #showDice(state, isOver) {
    const { game, speech, session, seen } = this;
    const last = seen?.number != null ? session.accounts[seen.number - 1] : seen ? null : session.accounts.at(-1);
    const dice = isOver ? [] : game.thrownDice(state);
    const thrown = isOver ? "" : speech.thrown(state);
    const sides = last && !dice.length ? game.dice(last.state, last.place)?.sides : null;
    const isOnBoard = this.hasDice && !dice.length;
    const rolls = session?.accounts.length ?? 0;
    this.dice.classList.toggle("fresh", rolls !== this.rolls);
    this.rolls = rolls;
    const isCounted = dice.some(({ kind }) => kind !== "die"); // marks: screen readers get their number
    const said = thrown && el("p", { class: isCounted ? "thrown unseen" : "thrown" }, `${SAY.thrown}: `, el("strong", {}, thrown));
    fill(this.dice, dice.length > 0 ? [dice.map(drawDie), isCounted && said]
      : said ? said
        : last && !isOnBoard && last.faces.map((face, i) => die(face, speech.face(face), sides?.[i] ?? 6, SAY.die(speech.face(face)))));
  }

  // The evaluation bar: the chance of each seat, or the expected points.
  #showScore(mover) {
    const { game, session, figures, names, seen } = this;
    const { head } = game;
    const isAsked = seen?.isAsked && seen.guess === null;
    const isSilent = isAsked || (this.coach === "off" && !session?.isOver && !seen);
    const n = game.zeros.length;
    const eyes = this.eyes ?? 0;
    const order = game.zeros.map((_, k) => (eyes + k) % n);
    const worths = seen ? game.worths(seen.state) : null;
    const levels = seen ? order.map((seat) => worths[(seat - mover + n) % n] + (seen.number === null ? 0 : session.accounts[seen.number].before[seat] - worths[(seat - mover + n) % n]))
      : session.isOver ? order.map((seat) => session.accounts.at(-1).after[seat]) : order.map((seat) => session.levels[seat]);
    const shares = figures.isScore ? [this.#shareOf(levels[0])] : levels.map((level) => (1 + level) / 2);
    const silence = isAsked ? SAY.guessFirst : SAY.silent;
    const players = order.map((seat, k) => ({ name: (names ?? this.#strangers)[seat], isMoving: seat === mover && !session?.isOver,
      text: !isSilent && (k === 0 || !figures.isScore) && figures.level(levels[k]) }));
    const told = players.filter(({ text }) => text).map(({ name, text }) => `${name}: ${text}`).join(", ");
    fill(this.score, scoreboard(players, isSilent ? [] : shares, isSilent ? silence : told,
      isSilent ? silence : session?.isOver && !seen ? SAY.atEnd : SAY.unitOf(figures.unit, head.bound, figures.points)));
  }

  // Where expected points lie between the worst and the best.
  #shareOf(level) {
    const { sign, stake, scores } = this.game.head;
    const start = this.game.value(this.session?.from ?? this.game.start);
    const room = scores.length > 1 ? scores.at(-1)[1] - scores[0][1] : stake;
    return 0.5 + (sign * (level - start)) / (room || 1) / 1.5;
  }

  // The moves since a person last had a say; only the last ones while others move.
  #tell(isMoving) {
    const { accounts } = this.session;
    const fresh = accounts.slice(this.told);
    if (!this.session.isOver && (isMoving || !this.session.isPerson)) fresh.splice(0, Math.max(0, fresh.length - 2));
    else this.told = accounts.length;
    if (!fresh.length) return;
    const left = fresh.length - MOST_TOLD;
    fill(this.news, el("ul", {},
      left > 0 && el("li", {}, "…"),
      fresh.slice(-MOST_TOLD).map((entry) => el("li", {}, this.move(entry)))));
    this.news.scrollTop = this.news.scrollHeight;
    const lost = fresh.filter((entry) => this.speech.lostTurn(entry.state, entry.place, entry.outcome)).slice(-2);
    if (lost.length && !this.session.isOver) {
      this.place.append(el("p", { class: "announced", "aria-hidden": "true" }, lost.map((entry) => this.#announced(entry))));
    }
  }

  // A lost turn below the board, in place of its words; the news say it too.
  #announced({ seat, state, place, outcome, faces }) {
    const { game, speech, names } = this;
    return el("span", {},
      faces.map((face, i) => die(face, speech.face(face), game.dice(state, place).sides[i])),
      ` ${names[seat]}: ${speech.lostTurn(state, place, outcome)}`);
  }

  move(entry) {
    const { game, speech } = this;
    const { state, place } = entry;
    const name = this.names[entry.seat];
    const dice = entry.faces.map((face, i) =>
      die(face, speech.face(face), game.dice(state, place).sides[i], SAY.die(speech.face(face))));
    const [by, deed] = speech.who(name, state, place);
    const [before, ...after] = deed.split("{}");
    const did = [before, after.length || !dice.length ? "" : " ", dice, after.join(" ")];
    const who = el("b", { class: `who p${(entry.seat - this.eyes + this.names.length) % this.names.length}` }, by);
    if (game.isThrow(state)) {
      const thrown = game.thrownDice(entry.outcome.target);
      if (thrown.length > 0) return [who, " ", did, " ", thrown.map(drawDie)];
      if (game.isLayered) return [who, " ", did, " ", el("strong", {}, this.cameOf(entry))];
    }
    const points = this.figures.amount(entry.points + entry.gain[entry.seat]);
    const isEnd = entry.outcome.isOver && game.head.average == null;
    const isScored = game.head.objective !== "win" && (isEnd || entry.gain[entry.seat] !== 0);
    const score = isScored && (isEnd ? SAY.scored(points) : SAY.soFarIs(points));
    const came = [this.cameOf(entry), score].filter((text) => text && (text !== SAY.end || !isScored)).join("; ");
    return [who, " ", did, came && `: ${came}`];
  }

  cameOf(entry) {
    return this.speech.cameOfMove(entry.state, entry.place, entry.outcome, this.names[entry.seat] === SAY.you);
  }

  // The question to the player: a choice, a confirmation of a mistake, or the faces of the dice.
  #asked(isMoving) {
    const { session, seen, drill } = this;
    if (seen?.isAsked) {
      const goesOn = drill.isEndless || drill.waiting.length > 0;
      const tools = el("div", { class: "tools" }, button(SAY.shareQuestion, () => this.#shareQuestion()), button(SAY.endDrill, () => this.back()));
      if (seen.guess === null) return [this.#choices(seen.state, (i) => this.#guess(i)), tools];
      return [goesOn && button(SAY.next, () => this.#do(() => this.#question()), { class: "main" }),
        button(SAY.playFrom, () => this.begin(seen.state)), tools];
    }
    if (seen) {
      return [seen.number === null && this.#offerEdits(), button(SAY.playFrom, () => this.begin(seen.state)), button(session ? SAY.toGame : SAY.newGame, () => this.back(), { class: "main" })];
    }
    if (isMoving) return button(SAY.hurry, () => { this.isHurried = true; this.hurry?.(); });
    if (session.isOver) {
      const worst = this.series.worst([this]).slice(0, MOST_ASKED);
      return [button(SAY.again, () => this.#again(), { class: "main" }),
        worst.length > 0 && this.coach !== "off" && button(SAY.better(worst.length), () => this.drillOf(worst.map(({ state }) => state))),
        button(SAY.share, () => this.#shareResult()),
        button(SAY.lookBack, () => { this.open("moves"); this.step(this.#worst()); })];
    }
    if (this.isLettingStand) {
      return [button(SAY.takeBack, () => this.#undo(), { class: "main" }),
        button(SAY.letStand, () => this.#do(() => this.#letFall()))];
    }
    if (session.pending !== null) return this.#askDice();
    if (!session.isPerson) return button(SAY.goOn, () => this.#do(() => this.#advance()), { class: "main" });
    return this.#choices(session.state, (i) => this.#do(() => this.#choose(i)));
  }

  #choices(state, act) {
    const choices = this.game.choices(state);
    const isHinted = !this.seen && (this.coach === "always" || this.coachView.state === state);
    return el("fieldset", { class: choices.length > 4 ? "choices many" : "choices" }, el("legend", { class: "unseen" }, SAY.choose),
      choices.map((choice, i) => {
        const key = i < 9 ? String(i + 1) : null;
        const worth = isHinted && choices.length > 1 && `${this.figures.level(choice.value)}${choice.isBest ? `, ${SAY.best}` : ""}`;
        const consequence = this.speech.consequence(state, i);
        return button([el("b", {}, choice.name), consequence && el("small", {}, consequence), worth && el("small", {}, worth)],
          () => act(i), { "data-key": key, "aria-keyshortcuts": key, class: choices.length === 1 ? "main" : null });
      }));
  }

  // Show on the board where each choice leads; a cell that only one choice changes can be clicked.
  #showMoves() {
    const { game, session } = this;
    const cells = this.place.querySelector(".board")?.cells;
    const buttons = [...this.ask.querySelectorAll(".choices button")];
    if (!cells || this.seen || game.head.players > 2 || session.pending !== null || buttons.length < 2) return;
    const before = game.board(session.state);
    const changed = buttons.map((_, i) => {
      const [outcome, ...others] = game.outcomes(session.state, i);
      return !outcome || others.length || outcome.isOver ? [] : changedCells(before, game.board(outcome.target), outcome.passes);
    });
    changed.forEach((list, i) => {
      const isAlone = ({ r, c }) => changed.every((other, k) => k === i || other.every((one) => one.r !== r || one.c !== c));
      for (const one of list.filter(isAlone)) {
        cells[one.r][one.c].classList.add("clickable");
        cells[one.r][one.c].addEventListener("click", () => buttons[i].click());
      }
      const mark = (isOn) => list.forEach(({ r, c, rise }) => cells[r][c].classList.toggle(rise > 0 ? "comes" : "goes", isOn));
      for (const [name, isOn] of [["mouseenter", true], ["focus", true], ["mouseleave", false], ["blur", false]]) {
        buttons[i].addEventListener(name, () => mark(isOn));
      }
    });
  }

  // The dice of a pool can be clicked: the choice that keeps the clicked ones comes first, and is marked.
  #letKeep(state) {
    const keeps = new Map([...this.ask.querySelectorAll(".choices b")].map((name) => [name.textContent, name.parentElement]));
    const nameOf = (faces) => `keep ${faces.sort((a, b) => a - b).join(" ") || "nothing"}`;
    if (!keeps.has(nameOf([]))) return;
    const faces = this.game.thrownDice(state).map(({ numbers }) => numbers[0]);
    const dice = [...this.dice.querySelectorAll(".die")];
    const isKept = (one) => one.getAttribute("aria-pressed") === "true";
    const toggle = (one) => {
      one.setAttribute("aria-pressed", String(!isKept(one)));
      const wanted = keeps.get(nameOf(faces.filter((_, k) => isKept(dice[k]))));
      for (const each of keeps.values()) each.classList.toggle("picked", each === wanted);
      wanted?.parentElement.scrollTo(0, 0);
    };
    for (const one of dice) {
      pressable(one, () => toggle(one), { "aria-pressed": "false" });
      one.addEventListener("click", () => toggle(one));
    }
  }

  // The move that lost most, or the first one.
  #worst() {
    const own = this.session.accounts.filter((entry) => entry.isMistake && this.session.players[entry.seat] === null);
    return own.reduce((worst, entry) => (entry.cost > worst.cost ? entry : worst), own[0] ?? { number: 0 }).number;
  }

  #askDice() {
    const { session } = this;
    const dice = this.game.dice(session.state, session.pending);
    const name = this.game.names(session.state)[session.pending];
    if (dice) {
      const inputs = dice.sides.map((sides, i) => {
        const options = Array.from({ length: sides }, (_, k) => [k + 1, this.speech.face(k + 1)]);
        return labelled(SAY.showDie(i + 1, dice.sides.length), select(options));
      });
      const form = el("form", { class: "thrower", onsubmit: (event) => {
        event.preventDefault();
        const faces = [...form.querySelectorAll("select")].map((one) => Number(one.value));
        this.#do(() => this.#fallen(() => session.throw(faces)));
      } }, el("p", {}, `${this.names[session.seat]}: ${name}`), inputs, el("button", { class: "main" }, SAY.take));
      return form;
    }
    const falls = session.falls.map((fall) => [fall.number,
      this.speech.came(session.state, session.pending, fall), SAY.ways(plain(fall.weight), plain(fall.total))]);
    const title = el("legend", {}, `${this.names[session.seat]}: ${name}. ${SAY.showOutcome}`);
    const take = (number) => this.#do(() => this.#fallen(() => session.fall(number)));
    if (falls.length <= MOST_BUTTONS) {
      return el("fieldset", { class: "choices many" }, title, falls.map(([number, text, ways], i) =>
        button([text, el("small", {}, ways)], () => take(number), { "data-key": i < 9 ? String(i + 1) : null })));
    }
    const list = select(falls.map(([number, text, ways]) => [number, `${text} (${ways})`]));
    list.setAttribute("aria-label", SAY.showOutcome);
    return el("fieldset", {}, title, list, button(SAY.take, () => take(Number(list.value)), { class: "main" }));
  }

  #showTools() {
    const { session, seen, coach } = this;
    const canAsk = coach !== "off" && session && !seen && !session.isOver && session.pending === null
      && session.isPerson && this.game.isChoice(session.state);
    fill(this.tools,
      canAsk && button(SAY.hint, () => this.#hint(), { "aria-keyshortcuts": "h" }),
      session?.canUndo && !seen && button(SAY.undo, () => this.#undo(), { "aria-keyshortcuts": "u" }),
      session && seen?.number !== null && button(SAY.edit, () => this.look(seen?.state ?? session.state)),
      session && button(SAY.newGame, () => this.#newGame(), { "aria-keyshortcuts": "n" }));
  }

  #newGame() {
    if (this.isBusy) return;
    this.seed.value = freshSeed();
    this.#showStart();
    this.ask.querySelector("input, button")?.focus({ preventScroll: true });
  }

  addressOf(state) {
    return addressOf(this.slices.placeOf(state));
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    if (event.target.closest("input:not([type=radio]), select, canvas, [role=tab]")) return;
    const { session, seen } = this;
    const number = seen?.number ?? session?.accounts.length;
    const acts = { h: () => this.#hint(), u: () => this.#undo(), n: () => this.#newGame(),
      ArrowLeft: () => this.step(number - 1), ArrowRight: () => seen && session && this.step(number + 1),
      Escape: () => seen && this.back() };
    const key = this.ask.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (event.key.startsWith("Arrow") && event.target.closest("input, .scroll")) return;
    if (key) key.click();
    else if (acts[event.key]) acts[event.key]();
    else return;
    event.preventDefault();
  }

  #result() {
    const { session, names, figures } = this;
    const { head } = this.game;
    const last = session.accounts.at(-1);
    if (head.average != null) return SAY.compared(figures.change(session.points[0]));
    if (head.objective !== "win") return SAY.scored(figures.amount(session.points[0]));
    const results = last.after;
    if (head.has_stakes) return names.map((name, k) => SAY.gained(name, figures.amount(results[k]))).slice(0, head.players > 2 ? 9 : 1).join("; ");
    if (head.players === 1) return results[0] > 0 ? SAY.youWin : results[0] < 0 ? SAY.youLose : SAY.drawn;
    const most = Math.max(...results);
    const winners = names.filter((_, k) => results[k] === most);
    if (winners.length > 1) return head.players === 2 ? SAY.drawn : SAY.haveShared(winners);
    return winners[0] === SAY.you ? SAY.youWin : SAY.hasWon(winners[0]);
  }
}
