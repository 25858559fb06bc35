// The moves of a game: a chart that separates luck from mistakes, and a list to step through.

import { button, el, fill, picture, table } from "./dom.js";
import { change } from "./session.js";
import { SAY } from "./strings.js";

const [CHART_WIDE, CHART_HIGH] = [320, 110];

export class MovesView {
  constructor(play) {
    this.play = play;
    this.element = el("div", { class: "books" });
    this.chart = el("figure");
  }

  show() {
    const { session, series, coach, seen } = this.play;
    const isSilent = coach === "off" && !session?.isOver;
    if (session) series.note(session, this.play.names, this.play.eyes);
    const wasOpen = this.element.querySelector("details")?.open;
    fill(this.chart, session?.accounts.length > 0 && !isSilent && this.#chart());
    fill(this.element, session?.accounts.length ? this.#list(isSilent) : el("p", { class: "dim" }, SAY.noMoves),
      session && el("details", { open: session.isOver || wasOpen }, el("summary", {}, SAY.luckAndSkill), isSilent ? el("p", {}, SAY.silent) : this.#ledger()),
      series.element(isSilent) ?? []);
    if (seen?.number != null) this.element.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  // The grade of a decision, as a class: best, fair, doubtful, bad or very-bad.
  grade(entry) {
    if (!entry.isChoice) return "none";
    return entry.isMistake ? (this.play.game.grade(entry.cost) ?? "fair").replace(" ", "-") : "best";
  }

  // Lines from move to move, steep where the dice or a mistake changed the expected result.
  #chart() {
    const { session, eyes, seen, figures } = this.play;
    const { accounts } = session;
    const up = figures.isScore ? this.play.game.head.sign : 1; // better is higher
    const levels = accounts.flatMap((entry) => [entry.before[eyes], entry.chosen[eyes], entry.after[eyes]]);
    const [low, high] = figures.isScore ? [Math.min(...levels), Math.max(...levels)] : [-1, 1];
    const least = 1e-9 * (this.play.game.head.stake || 1); // of a difference that isn't one of rounding
    const at = (k, level) => [6 + ((CHART_WIDE - 12) * k) / Math.max(1, accounts.length), CHART_HIGH - 13 - ((CHART_HIGH - 26) * (up > 0 ? level - low : high - level)) / Math.max(least, high - low)];
    const line = (style, [x1, y1], [x2, y2]) => ["line", { class: style, x1, y1, x2, y2 }];
    const shapes = accounts.flatMap((entry, k) => {
      const [before, chosen, after] = [at(k, entry.before[eyes]), at(k, entry.chosen[eyes]), at(k + 1, entry.after[eyes])];
      const isOwn = entry.isMistake && entry.cost > 0;
      return [line("luck", chosen, after), isOwn && line("mistake", before, chosen),
        isOwn && ["circle", { class: `grade ${this.grade(entry)}`, cx: chosen[0], cy: chosen[1], r: 3.5 }]].filter(Boolean);
    });
    if (seen?.number != null) shapes.push(line("now", at(seen.number, low), at(seen.number, high)));
    shapes.unshift(line("axis", at(0, (low + high) / 2), at(accounts.length, (low + high) / 2)),
      ...(high - low > least ? [high, low] : []).map((level) => ["text", { class: "end", x: 3, y: level === high ? 10 : CHART_HIGH - 3 }, figures.isScore ? figures.level(up > 0 ? level : high + low - level) : level > 0 ? "100 %" : "0 %"]));
    const chart = picture("chart", shapes, `0 0 ${CHART_WIDE} ${CHART_HIGH}`);
    chart.addEventListener("click", (event) => {
      const { left, width } = chart.getBoundingClientRect();
      this.play.step(Math.floor(((event.clientX - left) / width) * accounts.length));
    });
    return [chart, el("figcaption", {}, SAY.chart(this.play.names[eyes], figures.unit))];
  }

  #list(isSilent) {
    const { session, speech, names, figures, eyes, seen } = this.play;
    const rows = session.accounts.map((entry, number) => {
      const cost = !isSilent && entry.isMistake ? figures.cost(entry.cost).replace(/^(?=\d)/, "−") : "";
      const grade = isSilent ? "none" : this.grade(entry);
      const text = speech.did(names[entry.seat], entry.state, entry.place, entry.faces);
      const came = this.play.cameOf(entry);
      return el("li", {}, button([el("i", { class: `dot ${grade}`, title: SAY.grades[grade] }),
        el("span", { class: "unseen" }, SAY.grades[grade]),
        el("span", {}, text, came && el("small", {}, came)),
        el("span", { class: "number" }, cost, !isSilent && el("small", {}, figures.gain(change(entry.chosen[eyes], entry.after[eyes]))))],
      () => this.play.step(number), { class: "row", "aria-current": seen?.number === number ? "step" : null }));
    });
    return [el("div", { class: "stepper" },
      button("◀", () => this.play.step((seen?.number ?? rows.length) - 1), { "aria-label": SAY.earlier }),
      button("▶", () => this.play.step((seen?.number ?? rows.length) + 1), { "aria-label": SAY.later }),
      !isSilent && el("small", {}, SAY.columns(figures.points))),
    el("ol", { class: "moves" }, rows)];
  }

  #ledger() {
    const { session, names, figures, eyes } = this.play;
    const { start, result, luck, skill } = session.ledger(eyes);
    const rows = [[SAY.atStart, figures.level(start)]];
    names.forEach((_, i) => {
      const name = names[(eyes + i) % names.length];
      rows.push([SAY.luckOf(name), figures.gain(luck[i])]);
      rows.push([SAY.skillOf(name), figures.gain(skill[i])]);
    });
    rows.push([session.isOver ? SAY.atEnd : SAY.now, figures.level(result)]);
    return [
      el("p", {}, SAY.inEyes(names[eyes], figures.unit, figures.points, figures.sign < 0)),
      table(SAY.luckAndSkill, ["", figures.unit], rows, { numbers: [1] }),
      session.players.map((player, seat) => player === null && el("p", {},
        names.length > 1 && el("b", {}, `${names[seat]}: `), this.#judged(seat))),
    ];
  }

  #judged(seat) {
    const { session, game, figures } = this.play;
    const made = session.accounts.filter((entry) => entry.seat === seat && entry.isChoice);
    const graded = [...game.head.grades].reverse().flatMap(([grade]) => {
      const n = made.filter((entry) => game.grade(entry.cost) === grade).length;
      return n ? [`${n} ${grade}`] : [];
    });
    const mean = made.reduce((sum, entry) => sum + entry.cost, 0) / Math.max(1, made.length);
    return SAY.decisions(made.length, graded.join(", "), figures.cost(mean), figures.points);
  }
}
