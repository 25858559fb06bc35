// Positions and moves in words: the game's texts, or the names of its fields and actions.

import { SAY, listed } from "./strings.js";
import { Figures } from "./figures.js";

const MOST_CHANGES = 8;
const NO_NAME = new RegExp(`^(\\d+|${SAY.onlyMove})$`); // of an action that has only a number
const MOST_NAMED_OUTCOMES = 3; // on the button of a choice
const MOST_OF_ONE = 2; // changes named on the button of a choice with one outcome

export class Speech {
  constructor(game) {
    this.game = game;
    this.figures = new Figures(game.head);
  }

  // The fields of a position as pairs of name and text, those of a tuple as one.
  fields(s) {
    const { game } = this;
    const found = new Map();
    game.row(s).forEach((number, f) => {
      if (number === game.head.no_throw) return;
      const [, whole, part] = game.fieldNames[f].match(/^(.*?)(\.\d+)?$/s);
      const text = game.valueText(f, number);
      if (part) found.set(whole, [...(found.get(whole) ?? []), text]);
      else found.set(whole, text);
    });
    return [...found].map(([name, text]) => [name, [text].flat().join(" ")]);
  }

  // A position in words, without the throw.
  position(s) {
    return this.game.described(s) || this.fields(s).map(([name, text]) => `${name.replaceAll("_", " ")} ${text}`).join(", ");
  }

  // The throw in words; empty before a throw.
  thrown(s) {
    const { game } = this;
    if (game.thrownText) return game.thrownText(s);
    const position = game.position(s);
    return position === s ? "" : this.throwText(game.outcomes(position, 0).find(({ target }) => target === s));
  }

  throwText(outcome) {
    return this.game.told(outcome) || listed((this.game.thrown(outcome.target) ?? this.game.thrownDice(outcome.target).map(({ numbers }) => numbers[0])).filter(Boolean).map(String)); // 0 is a die that isn't thrown
  }

  // What can come of an action, in a few words: "1 in 6: the turn's points are lost".
  consequence(s, place) {
    const outcomes = this.game.outcomes(s, place);
    const changed = (outcome, most) => this.#changes(s, outcome).filter((text) => !this.#everywhere(s).has(text)).slice(0, most).join(", ");
    const own = (outcome) => this.game.told(outcome) || this.#after(outcome);
    const told = (outcome, most = 1) => own(outcome) || this.#lost(s, outcome) || (this.game.deed(s, place) ? "" : changed(outcome, most));
    const points = outcomes.some(own) ? "" : this.#points(s, place);
    const parts = points ? [points] : [];
    if (outcomes.length < 2) {
      const [alone] = outcomes;
      const isPaid = points && this.game.head.objective !== "win"; // then the end goes without saying
      return alone?.isOver ? (isPaid ? points : this.came(s, place, alone, true)) : [...parts, alone && told(alone, MOST_OF_ONE)].filter(Boolean).join("; ");
    }
    const { objective } = this.game.head;
    const add = (say, some) => some.length > 0 && parts.push(say(odds(some), some));
    if (objective === "win") {
      const over = outcomes.filter(({ isOver }) => isOver);
      const ends = this.game.head.has_stakes ? byText(over, (outcome) => this.came(s, place, outcome, true)) : null;
      if (ends && ends.size <= MOST_NAMED_OUTCOMES) {
        for (const [text, some] of ends) parts.push(SAY.happens(odds(some), text));
      } else {
        add(SAY.winsIn, over.filter(({ payoff }) => this.game.decided(payoff) > 0));
        add(SAY.losesIn, over.filter(({ payoff }) => this.game.decided(payoff) < 0));
      }
    }
    const passing = outcomes.filter(({ isOver, passes }) => !isOver && passes);
    if (passing.length < outcomes.filter(({ isOver }) => !isOver).length) {
      add((text, some) => SAY.happens(text, [told(some[0]), !own(some[0]) && SAY.passes].filter(Boolean).join(", ")), passing);
    }
    if (!parts.some((part) => part !== points)) {
      const ways = byText(outcomes, told);
      if (ways.size <= MOST_NAMED_OUTCOMES && !ways.has("")) for (const [text, some] of ways) parts.push(SAY.happens(odds(some), text));
    }
    return parts.join("; ");
  }

  // The position after an outcome in words, in a game with too many outcomes for words of each.
  #after({ isOver, passes, target }) {
    const { game } = this;
    return game.head.tells_after && !isOver && !passes && game.position(target) === target ? game.described(target) : "";
  }

  // The points of a choice, where choices differ in theirs.
  #points(s, place) {
    const { game } = this;
    if (game.isThrow(s)) return "";
    const rewards = game.names(s).map((_, i) => game.rewardOf(s, i));
    const points = rewards[place];
    if (rewards.every((one) => one === points)) return "";
    return game.head.objective === "win" ? this.#paid(points) : SAY.makes(this.figures.amount(points));
  }

  // The changes that come of each choice, such as that of a count of turns.
  #everywhere(s) {
    if (this.common?.s === s) return this.common.texts;
    const all = this.game.names(s).flatMap((_, i) => this.game.outcomes(s, i)).filter(({ isOver }) => !isOver).map((outcome) => this.#changes(s, outcome));
    const texts = new Set(this.game.names(s).length > 1 ? all[0]?.filter((text) => all.every((some) => some.includes(text))) : []);
    this.common = { s, texts };
    return texts;
  }

  #paid(points) {
    return points > 0 ? SAY.gains(this.figures.amount(points)) : points < 0 ? SAY.pays(this.figures.amount(-points)) : "";
  }

  // An action as a deed of its player; `{}` is the place of the dice.
  deed(s, place) {
    const name = this.game.names(s)[place];
    return this.game.deed(s, place) || (NO_NAME.test(this.game.actions(s)[place]) ? SAY.plays(name) : name);
  }

  // A player with a deed: "You hold", "Perfect play plays 3", or "You: hold" without words of the game.
  who(name, s, place) {
    const isDeed = this.game.deed(s, place) || this.game.isThrow(s) || NO_NAME.test(this.game.actions(s)[place]);
    return [isDeed ? name : `${name}:`, isDeed ? conjugated(this.deed(s, place), name === SAY.you) : this.deed(s, place)];
  }

  // The same with the faces of the dice, in words.
  did(name, s, place, faces) {
    const shown = listed(faces.map((face) => this.face(face)));
    const [who, deed] = this.who(name, s, place);
    const [before, ...after] = deed.split("{}");
    const told = after.length ? [before, after.join(shown)].join(shown) : `${before} ${shown}`;
    return `${who} ${told}`.replace(/\s+/g, " ").trim();
  }

  face(face) {
    return this.game.head.faces[face - 1] ?? String(face);
  }

  // The outcome of a move in words; empty where the game has words for the deed and none for the
  // outcome.
  cameOfMove(s, place, outcome, isYou) {
    const hasWords = this.game.deed(s, place) && !this.game.told(outcome) && !this.#after(outcome);
    return hasWords && !outcome.isOver ? this.#lost(s, outcome) : this.came(s, place, outcome, isYou);
  }

  // A turn lost by bad luck, in words; empty for other moves.
  lostTurn(s, place, outcome) {
    const isLost = outcome.passes && !outcome.isOver && this.game.outcomes(s, place).some((one) => one.isOver || !one.passes);
    return isLost ? this.#lost(s, outcome) || this.game.told(outcome) || this.#named(s, outcome) || this.came(s, place, outcome) : "";
  }

  // What a bar of the player had at risk, and lost.
  #lost(s, outcome) {
    const { game } = this;
    if (!outcome.passes || outcome.isOver) return "";
    const bars = (cells, after) => (cells ?? []).flat().filter(({ kind, numbers }) => kind === "bar" && numbers[3] === after);
    const n = game.head.players;
    const before = bars(game.board(s), 0);
    const then = bars(game.board(outcome.target), (n - outcome.passes) % n);
    if (then.length !== before.length || !before.some(({ numbers }) => numbers[1])) return "";
    const lost = before.reduce((sum, { numbers: [kept, risked] }, i) => sum + kept + risked - then[i].numbers[0], 0);
    return lost > 0 ? SAY.gone(lost) : "";
  }

  // The outcome of an action.
  came(s, place, outcome, isYou = false) {
    const { game } = this;
    if (game.isThrow(s) && !outcome.isOver) return this.throwText(outcome);
    const told = game.told(outcome) || this.#after(outcome);
    const paid = game.head.objective === "win" ? [this.#paid(game.rewardOf(s, place))].filter(Boolean) : [];
    if (outcome.isOver) {
      const { players, has_stakes: hasStakes } = game.head;
      const even = players > 2 && !hasStakes ? SAY.shares(isYou) : hasStakes && game.head.has_rewards ? SAY.end : players === 1 && hasStakes ? SAY.nothingGained : SAY.draw;
      const ends = [SAY.loses(isYou), even, SAY.wins(isYou)];
      const ending = game.head.objective !== "win" ? "" : ends[1 + game.decided(outcome.payoff)];
      const stake = hasStakes && outcome.payoff ? ` ${this.figures.amount(Math.abs(outcome.payoff))}` : "";
      return [told, ...paid, ending + stake].filter(Boolean).join("; ") || (game.head.average == null ? SAY.end : SAY.back);
    }
    if (told) return [told, ...paid].join("; ");
    const done = game.outcomes(s, place).length === 1 ? game.deed(s, place) : "";
    const faces = this.#faces(s, place, outcome);
    const hasWords = this.game.head.faces.some((name, k) => name !== String(k + 1)); // of its own
    const changed = done || (hasWords && faces) || this.#named(s, outcome) || faces;
    const passes = outcome.passes ? [SAY.passes] : [];
    return [changed, ...paid, ...passes].filter(Boolean).join("; ") || SAY.nothing;
  }

  // The dice that bring an outcome, in words; empty where different throws do.
  #faces(s, place, { number }) {
    const dice = this.game.dice(s, place);
    if (!dice) return "";
    const texts = new Set();
    dice.brings.forEach((brought, k) => {
      if (brought !== number) return;
      const faces = [];
      // the last die changes first
      for (const sides of [...dice.sides].reverse()) {
        faces.push(1 + (k % sides));
        k = Math.floor(k / sides);
      }
      texts.add(listed(faces.sort((a, b) => a - b).map((face) => this.face(face))));
    });
    return texts.size === 1 ? [...texts][0] : "";
  }

  #named(s, outcome) {
    const changes = this.#changes(s, outcome);
    return changes.slice(0, MOST_CHANGES).join(", ") + (changes.length > MOST_CHANGES ? " …" : "");
  }

  // The changed fields, as the mover saw them.
  #changes(s, outcome) {
    const { game } = this;
    if (outcome.isOver) return [];
    const before = game.row(s);
    const after = game.row(outcome.target);
    const told = [];
    game.fieldNames.forEach((name, f) => {
      let seen = f; // its place in the view of the next player
      for (let k = 0; k < outcome.passes && seen >= 0; k++) seen = game.head.seen_by_next[seen];
      const isOfThrow = game.head.has_throws && /^(throw(\.\d+)?|rolls_left)$/.test(name);
      if (isOfThrow || seen < 0 || before[f] === after[seen]) return;
      const [from, to] = [before[f], after[seen]].map((x) => (x === game.head.no_throw ? "–" : game.valueText(f, x)));
      told.push(`${/\.\d+$/.test(name) ? `${game.label(f)}:` : game.label(f)} ${from} → ${to}`);
    });
    return told;
  }
}

// Outcomes with equal texts together.
function byText(outcomes, tell) {
  const found = new Map();
  for (const outcome of outcomes) {
    const text = tell(outcome);
    found.set(text, [...(found.get(text) ?? []), outcome]);
  }
  return found;
}

// The chance of outcomes: "1 in 6".
export function odds(outcomes) {
  const ways = outcomes.reduce((sum, { weight }) => sum + weight, 0);
  const { total } = outcomes[0];
  const common = (a, b) => (b ? common(b, a % b) : a);
  const least = common(ways, total);
  return total / least <= 40 ? SAY.inAll(ways / least, total / least) : `${Number((100 * ways / total).toPrecision(2))} %`;
}

// What a player does, with its verb, the first word, as it goes with the player.
export function conjugated(deed, isSpokenTo) {
  if (isSpokenTo) return deed;
  const [verb] = deed.match(/^\p{L}*/u);
  const rest = deed.slice(verb.length);
  if (verb === "be" || verb === "have") return (verb === "be" ? "is" : "has") + rest;
  if (/[^aeiou]y$/.test(verb)) return `${verb.slice(0, -1)}ies${rest}`;
  return verb + (/(s|x|z|ch|sh|o)$/.test(verb) ? "es" : "s") + rest;
}
