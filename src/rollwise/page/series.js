// Games that were played one after the other: a tally, the mistakes, and the games to keep.

import { el, table } from "./dom.js";
import { asked } from "./open_game.js";
import { recordOf } from "./record.js";
import { SAY } from "./strings.js";

const MOST_MISTAKES = 10;

export class Series {
  // `playFrom` begins a game in a state.
  constructor({ game, figures, speech, playFrom }) {
    Object.assign(this, { game, figures, speech, playFrom });
    this.posted = new Set(); // games that a server was sent
    this.isLost = false; // one of them wasn't kept
    this.games = []; // finished ones: a session, the names of its players, and the seat of a person
  }

  // Take note of a game, if it is over and was played from the start by a person.
  note(session, names, eyes) {
    this.games = this.games.filter((one) => one.session.isOver && one.session !== session);
    if (!session.isOver || session.from !== this.game.start || session.players[eyes] !== null) return;
    this.games.push({ session, names, eyes });
    if (this.game.head.api?.keeps && !this.posted.has(session)) this.#post(session, names);
  }

  // Have the server keep a game, as it was when it was over first.
  #post(session, names) {
    this.posted.add(session);
    asked(`api/history${location.search}`, { method: "POST", headers: { "content-type": "application/json" },
      body: JSON.stringify(recordOf(this.game, session, names)) }).catch(() => (this.isLost = true));
  }

  text() {
    return this.games.map(({ session, names }) => `${JSON.stringify(recordOf(this.game, session, names))}\n`).join("");
  }

  element(isSilent) {
    if (!this.games.length) return null;
    return el("details", { open: true }, el("summary", {}, SAY.gamesSoFar(this.games.length)),
      table(SAY.gamesSoFar(this.games.length), ["", ""], this.#rows(), { numbers: [1] }),
      el("p", {}, SAY.seriesNote),
      this.isLost && el("p", { class: "warning" }, SAY.notKept),
      !isSilent && this.#mistakes(),
      Object.keys(this.game.head.record).length > 0
        && el("div", { class: "tools" }, el("button", { type: "button", onclick: () => this.#save() }, SAY.saveGames)));
  }

  #rows() {
    const { head } = this.game;
    const { figures } = this;
    const ledgers = this.games.map(({ session, eyes }) => session.ledger(eyes));
    const losses = this.games.map(({ session, eyes }) => sum(own(session, eyes).map((entry) => entry.cost)));
    const decisions = sum(this.games.map(({ session, eyes }) => own(session, eyes).length));
    const rows = [];
    if (head.objective === "win" && !head.has_stakes) {
      const won = ledgers.filter(({ result }) => result > 0).length;
      const drew = ledgers.filter(({ result }) => result === 0).length;
      rows.push([SAY.wonDrewLost, `${won}, ${drew}, ${ledgers.length - won - drew}`]);
    } else {
      rows.push([head.has_stakes ? SAY.gainedMean : SAY.scoredMean, figures.level(mean(ledgers.map(({ result }) => result)))]);
    }
    rows.push([SAY.withBestPlay, figures.level(mean(ledgers.map(({ start }) => start)))]);
    rows.push([SAY.lostAGame(figures.points), around(figures, losses)]);
    rows.push([SAY.lostADecision(figures.points), figures.cost(sum(losses) / Math.max(1, decisions))]);
    for (const { name, loss } of [...head.losses].sort((a, b) => a.loss - b.loss)) {
      rows.push([SAY.lostBy(name), figures.cost(loss)]);
    }
    rows.push([SAY.luckAGame(figures.points), figures.change(mean(ledgers.map(({ luck }) => luck[0] + luck[1])))]);
    return rows;
  }

  // The positions where most was lost, each once, to be played again.
  #mistakes() {
    const worst = new Map();
    for (const { session, eyes } of this.games) {
      for (const entry of own(session, eyes)) {
        const known = worst.get(entry.state);
        if (entry.isMistake && !(known?.cost >= entry.cost)) worst.set(entry.state, entry);
      }
    }
    if (!worst.size) return el("p", {}, SAY.noMistakes);
    const rows = [...worst.values()].sort((a, b) => b.cost - a.cost).slice(0, MOST_MISTAKES).map((entry) => {
      const names = this.game.names(entry.state);
      const thrown = this.speech.thrown(entry.state);
      return [this.speech.position(entry.state) + (thrown ? `; ${SAY.thrown} ${thrown}` : ""), names[entry.place],
        names[this.game.best(entry.state)], this.figures.cost(entry.cost),
        el("button", { type: "button", onclick: () => this.playFrom(entry.state) }, SAY.tryAgain)];
    });
    return [el("h3", {}, SAY.mistakes), table(SAY.mistakes,
      [SAY.position, SAY.did, SAY.best, SAY.lost, SAY.practise], rows, { numbers: [3] })];
  }

  #save() {
    const link = el("a", { href: URL.createObjectURL(new Blob([this.text()], { type: "application/jsonl" })),
      download: `${this.game.head.record.game}.jsonl` });
    link.click();
    URL.revokeObjectURL(link.href);
  }
}

const own = (session, seat) => session.accounts.filter((entry) => entry.seat === seat && entry.isChoice);
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers) => sum(numbers) / numbers.length;

// A mean of costs and its standard error, where games differ.
function around(figures, costs) {
  const middle = mean(costs);
  const spread = Math.sqrt(sum(costs.map((cost) => (cost - middle) ** 2)) / (costs.length - 1) / costs.length);
  return spread > 0 ? `${figures.cost(middle)} ± ${figures.cost(spread)}` : figures.cost(middle);
}
