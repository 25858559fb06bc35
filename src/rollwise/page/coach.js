// The coach: the value of each choice, the reason in a sentence, and the outcomes behind it.

import { barred, button, el, fill, table } from "./dom.js";
import { odds } from "./speech.js";
import { SAY } from "./strings.js";

const MOST_PARTS = 4; // outcomes in a sentence
const MOST_OUTCOMES = 60; // of an action, in its list

export class CoachView {
  constructor(play) {
    this.play = play;
    this.state = null; // the state with advice on view
    this.offered = el("div", { class: "tools" });
    this.advice = el("div", { class: "advice", role: "status", "aria-live": "polite" });
    this.more = el("div");
    this.element = el("div", {}, this.offered, this.advice, this.more);
  }

  clear(text) {
    this.state = null;
    fill(this.offered);
    fill(this.advice, text && el("p", {}, text));
    fill(this.more);
  }

  // A button to ask, where there is a choice; else what can come in the state of `forced`, if not null.
  offer(canAsk, act, forced) {
    const isSilent = this.play.coach === "off" && !this.play.session?.isOver;
    fill(this.offered, this.state === null && [el("p", {}, isSilent ? SAY.silent : canAsk ? SAY.askMe : SAY.nothingToAsk),
      canAsk && button(SAY.hint, act, { class: "main" })]);
    if (this.state !== null || this.advice.firstChild) return;
    fill(this.more, forced !== null && !isSilent && this.#outcomes(forced, this.play.game.choices(forced)[0], true));
  }

  // Advice in a state; `chosen` is the place of the action that was taken there.
  advise(state, chosen = null) {
    const { game, figures } = this.play;
    this.state = state;
    fill(this.offered);
    const choices = game.choices(state);
    const best = choices[game.best(state)];
    const others = choices.filter((one) => !one.isBest).sort((a, b) => a.cost - b.cost);
    const other = chosen !== null && !choices[chosen].isBest ? choices[chosen] : others[0];
    const reason = el("p", { class: "reason" });
    const explain = async () => {
      for (const one of [best, other]) if (one) await game.ready(state, one.place);
      fill(reason, this.#reason(state, best), other && [" ", this.#reason(state, other), ` ${SAY.difference(other.name, figures.costText(other.cost))}`]);
    };
    if (choices.length > 1) explain().catch(() => {});
    fill(this.advice, this.choiceTable(state, SAY.advice, chosen), reason,
      el("p", { class: "dim" }, SAY.certainly(game.head.bound, figures.points, game.head.players > 2)));
    fill(this.more, choices.map((one) => this.#outcomes(state, one)),
      el("p", {}, el("a", { href: this.play.addressOf(state) }, SAY.link)));
  }

  // The value of each choice, the best first, with bars from 0, or from the worst to the best.
  choiceTable(state, caption, chosen = null) {
    const { game, figures } = this.play;
    const rows = game.choices(state).sort((a, b) => a.cost - b.cost);
    const room = Math.max(rows.at(-1).cost, game.head.stake / 10) || 1;
    const share = (row) => (figures.isScore ? 1 - row.cost / room : (1 + row.value) / 2);
    const bar = (row) => barred(row.isBest ? "level best" : "level", Math.max(0.01, share(row)), figures.level(row.value));
    return table(caption, [SAY.choice, figures.unit, SAY.costs(figures.points)],
      rows.map((row) => [el("span", { class: row.place === chosen ? "chosen" : null }, `${row.isBest ? "→ " : ""}${row.name}`), bar(row),
        row.isBest ? SAY.best : figures.cost(row.cost)]),
      { numbers: [2], marked: rows.flatMap((row, i) => (row.isBest ? [i] : [])) });
  }

  // The parts of a choice's value: the outcomes that end the game, pass the turn, or go on, each
  // with its chance and its mean. Chance times mean, added up, is the value.
  parts(state, place) {
    const { game } = this.play;
    const reward = game.paid(state, place)[0];
    const groups = new Map();
    for (const outcome of game.outcomes(state, place)) {
      const kind = game.kindOf(outcome);
      groups.set(kind, [...(groups.get(kind) ?? []), outcome]);
    }
    return [...groups].map(([kind, some]) => {
      const ways = some.reduce((sum, { weight }) => sum + weight, 0);
      const mean = some.reduce((sum, one) => sum + one.weight * game.worthsAfter(one)[0], 0) / ways;
      return { kind, some, chance: ways / some[0].total, mean: mean + reward };
    }).sort((a, b) => b.chance - a.chance);
  }

  #reason(state, { name, place, value }) {
    const { figures, speech, game } = this.play;
    const parts = this.parts(state, place);
    if (!parts.length) return "";
    const { some } = parts[0];
    if (parts.length === 1 && some.length > MOST_PARTS) return "";
    if (parts.length === 1 && some.length === 1) return SAY.reasonOne(name, SAY.parts[parts[0].kind], figures.level(value));
    const told = parts.length > 1 ? parts.map(({ kind, some, mean }) => [some, SAY.parts[kind], mean])
      : some.map((one) => [[one], speech.came(state, place, one), game.worthsAfter(one)[0] + game.paid(state, place)[0]]);
    return SAY.reason(name, told.map(([some, text, mean]) => SAY.part(odds(some), text, figures.level(mean))), figures.level(value));
  }

  // What can come of a choice: each outcome with its chance and the value after it, as a link.
  #outcomes(state, { name, place }, isOpen = false) {
    const { game, figures, speech } = this.play;
    const list = el("div");
    const show = async () => {
      if (list.firstChild) return;
      await game.ready(state, place);
      const outcomes = game.outcomes(state, place);
      const reward = game.paid(state, place)[0];
      fill(list, table(SAY.outcomesOf(name), [SAY.came, SAY.chance, figures.unit], outcomes.slice(0, MOST_OUTCOMES).map((one) => {
        const text = speech.came(state, place, one);
        return [one.isOver ? text : el("a", { href: this.play.addressOf(one.target) }, text), odds([one]),
          figures.level(game.worthsAfter(one)[0] + reward)];
      }), { numbers: [1, 2] }), outcomes.length > MOST_OUTCOMES && el("p", {}, SAY.sheetCut(MOST_OUTCOMES)));
    };
    return el("details", { ontoggle: show, open: isOpen }, el("summary", {}, SAY.outcomesOf(name)), list);
  }
}
