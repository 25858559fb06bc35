// A series of games: a tally, the mistakes, and the games to save.

import { button, el, picture, table } from "./dom.js";
import { asked, queryOf } from "./open_game.js";
import { recordOf } from "./record.js";
import { download } from "./share.js";
import { SAY } from "./strings.js";

const MOST_MISTAKES = 10;
const Z = 1.96; // standard errors, on both sides: 95 %

export class Series {
  // `ask` asks for the best choice in a state.
  constructor({ game, figures, speech, ask }) {
    Object.assign(this, { game, figures, speech, ask });
    this.posted = new Set(); // games sent to a server
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
    asked(`api/history?${queryOf(this.game.head)}`, { method: "POST", headers: { "content-type": "application/json" },
      body: JSON.stringify(recordOf(this.game, session, names)) }).catch(() => (this.isLost = true));
  }

  text() {
    return this.games.map(({ session, names }) => `${JSON.stringify(recordOf(this.game, session, names))}\n`).join("");
  }

  element(isSilent) {
    if (!this.games.length) return null;
    const hasDecisions = this.games.some(({ session, eyes }) => own(session, eyes).length > 0);
    return el("details", { open: true }, el("summary", {}, SAY.gamesSoFar(this.games.length)),
      table(SAY.gamesSoFar(this.games.length), ["", ""], this.#rows(), { numbers: [1] }),
      hasDecisions && el("p", {}, SAY.seriesNote),
      this.game.head.losses_rest_on_ties && el("p", {}, SAY.restsOnTies),
      this.#scores(),
      this.isLost && el("p", { class: "warning" }, SAY.notKept),
      !isSilent && hasDecisions && this.#mistakes(),
      Object.keys(this.game.head.record).length > 0
        && el("div", { class: "tools" }, button(SAY.saveGames, () => this.#save())));
  }

  #rows() {
    const { head } = this.game;
    const { figures } = this;
    const ledgers = this.games.map(({ session, eyes }) => session.ledger(eyes));
    const losses = this.games.map(({ session, eyes }) => sum(own(session, eyes).map((entry) => entry.cost)));
    const decisions = sum(this.games.map(({ session, eyes }) => own(session, eyes).length));
    const rows = [];
    if (head.objective === "win" && !head.has_stakes) {
      rows.push([SAY.wonDrewLost, wonDrewLost(ledgers.map(({ result }) => result)).join(", ")]);
    } else {
      rows.push([head.has_stakes ? SAY.gainedMean : SAY.scoredMean, figures.level(mean(ledgers.map(({ result }) => result)))]);
    }
    rows.push([SAY.withBestPlay, figures.level(mean(ledgers.map(({ start }) => start)))]);
    if (decisions > 0) {
      rows.push([SAY.lostAGame(figures.points), around(figures, losses)]);
      rows.push([SAY.lostADecision(figures.points), figures.cost(sum(losses) / decisions)]);
      for (const { name, loss } of [...head.losses].sort((a, b) => a.loss - b.loss)) {
        rows.push([SAY.lostBy(name), figures.cost(loss)]);
      }
    }
    const toTell = this.#gamesToTell(ledgers, losses);
    if (Number.isFinite(toTell)) rows.push([SAY.gamesToTell, Math.max(1, Math.ceil(toTell)).toLocaleString("en")]);
    rows.push([SAY.luckAGame(figures.points), figures.gain(meanLuck(ledgers))]);
    return rows;
  }

  // Number of games after which results alone distinguish such play from optimal play: the loss is
  // then 1.96 standard errors of the mean result.
  #gamesToTell(ledgers, losses) {
    const loss = mean(losses);
    if (!(loss > 0)) return Infinity;
    const results = ledgers.map(({ result }) => result);
    if (this.figures.isScore) return variance(results) * (Z / loss) ** 2 || NaN;
    const chance = (1 + mean(ledgers.map(({ start }) => start)) - loss) / 2;
    return 4 * chance * (1 - chance) * (Z / loss) ** 2;
  }

  // The scores of a person, over those of best play.
  #scores() {
    const bins = this.game.head.scores;
    if (!bins.length) return null;
    const made = this.games.map(({ session }) => session.points[0]);
    const shares = bins.map(([, low, high]) => made.filter((score) => score >= low && score <= high).length / made.length);
    const most = Math.max(...shares, ...bins.map(([, , , chance]) => chance));
    const percent = (share) => `${(100 * share).toFixed(1)} %`;
    return [el("h3", {}, SAY.scores), table(SAY.scores, [SAY.pointsOf, SAY.yours, SAY.ofBest, ""],
      bins.map(([text, , , chance], i) => [text, percent(shares[i]), percent(chance),
        histogramBar(shares[i] / most, chance / most)]), { numbers: [1, 2] })];
  }

  // The moves that lost most, each position once; of one game or of all.
  worst(games = this.games) {
    const worst = new Map();
    for (const { session, eyes } of games) {
      for (const entry of own(session, eyes)) {
        const known = worst.get(entry.state);
        if (entry.isMistake && !(known?.cost >= entry.cost)) worst.set(entry.state, entry);
      }
    }
    return [...worst.values()].sort((a, b) => b.cost - a.cost);
  }

  #mistakes() {
    const worst = this.worst();
    if (!worst.length) return el("p", {}, SAY.noMistakes);
    const rows = worst.slice(0, MOST_MISTAKES).map((entry) => {
      const names = this.game.names(entry.state);
      const thrown = this.speech.thrown(entry.state);
      return [this.speech.position(entry.state) + (thrown ? `; ${SAY.thrown} ${thrown}` : ""), names[entry.place],
        this.game.bestNames(entry.state), this.figures.cost(entry.cost),
        button(SAY.tryAgain, () => this.ask(entry.state))];
    });
    return [el("h3", {}, SAY.mistakes), table(SAY.mistakes,
      [SAY.position, SAY.did, SAY.best, SAY.lost, SAY.practise], rows, { numbers: [3] })];
  }

  #save() {
    download(new Blob([this.text()], { type: "application/jsonl" }), `${this.game.head.record.game}.jsonl`);
  }
}

// How many games were won, drawn and lost. A win is 1 and a loss -1; a win shared by three players is
// -1/3 for each of them.
export function wonDrewLost(results) {
  const [won, lost] = [1, -1].map((decided) => results.filter((result) => result === decided).length);
  return [won, results.length - won - lost, lost];
}

// The mean over games of the effect of all dice, those of a player and of any number of others.
export function meanLuck(ledgers) {
  return mean(ledgers.map(({ luck }) => sum(luck)));
}

const own = (session, seat) => session.accounts.filter((entry) => entry.seat === seat && entry.isChoice);
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
// A bar for a share of games, and a mark where it would be with best play.
function histogramBar(share, best) {
  const shapes = [["rect", { x: 0, y: 6, width: 100 * share, height: 18, class: "share" }],
    ["rect", { x: Math.max(0, 100 * best - 1), y: 1, width: 2, height: 28, class: "mark" }]];
  const made = picture("bars", shapes, "0 0 100 30");
  made.setAttribute("preserveAspectRatio", "none");
  return made;
}

const variance = (numbers) => sum(numbers.map((x) => (x - mean(numbers)) ** 2)) / (numbers.length - 1);
const mean = (numbers) => sum(numbers) / numbers.length;

// A mean of costs and its standard error, where games differ.
function around(figures, costs) {
  const middle = mean(costs);
  const spread = Math.sqrt(variance(costs) / costs.length);
  return spread > 0 ? `${figures.cost(middle)} ± ${figures.cost(spread)}` : figures.cost(middle);
}
